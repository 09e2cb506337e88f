#!/usr/bin/env python3
"""Reports on the prefix cache of any number of logs with Spark: one task per log, then one table.

Each task runs `dsh-audit cache-report --format jsonl` on one log, where the log lies (a path that every worker sees). The
rows are kept as text, in as many parts as Spark likes; `dsh-audit merge` adds the same parts up, and both sums must agree.

    pip install pyspark
    spark-submit benches/fleet/spark_job.py --out rows LOG… # or: python3 …, which runs Spark in this process
    dsh-audit merge --by cause rows/part-*

Exit status: 0 both sums agree, 1 they do not, 2 a log could not be reported on.
"""

import argparse
import glob
import json
import subprocess
import sys

from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import BooleanType, DecimalType, LongType, StringType, StructField, StructType


def report(program, path):
    """The rows of one log, and what went wrong with it; a log that must be rejected has no rows."""
    run = subprocess.run(
        [program, "cache-report", "--format", "jsonl", "--no-config", "--exit-zero", "--mmap=never", path],
        capture_output=True,
        check=False,
    )
    if run.returncode:
        yield "error", f"{path}: exit {run.returncode}: {run.stderr.decode(errors='replace').strip()[:400]}"
    for line in run.stdout.decode().splitlines():
        yield "row", line


def schema_of(program):
    """The columns, from the program's own schema: no inference, so that a column that is null everywhere has its type."""
    text = subprocess.run([program, "schema", "cache-report-row"], capture_output=True, check=True).stdout
    fields = []
    for name, column in json.loads(text)["properties"].items():
        kinds = column.get("type", "string")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if name.endswith("Pico"):
            spark_type = DecimalType(38, 0)
        else:
            spark_type = {"integer": LongType(), "boolean": BooleanType()}.get(kind, StringType())
        fields.append(StructField(name, spark_type))
    return StructType(fields)


def sums(table):
    """The totals, as `dsh-audit` counts them: what the parent session paid for is left out."""
    own = table.where((F.col("kind") == "request") & ~F.col("inherited"))
    told = F.col("prompt").isNotNull() & F.col("hit").isNotNull()
    first = told & (F.col("verdict") == "first")
    amount = lambda column, condition=None: F.coalesce(
        F.sum(F.when(condition, F.col(column)) if condition is not None else F.col(column)), F.lit(0)
    )
    row = own.agg(
        F.count("*").alias("requests"),
        F.count(F.when(told, 1)).alias("withUsage"),
        amount("prompt", told).alias("prompt"),
        amount("hit", told).alias("hit"),
        amount("output").alias("output"),
        amount("prompt", first).alias("firstPrompt"),
        amount("hit", first).alias("firstHit"),
        amount("lost").alias("lost"),
        F.count("paidPico").alias("priced"),
    ).first()
    totals = row.asDict()
    by_currency = own.where("paidPico is not null").groupBy("currency")
    costs = by_currency.agg(F.sum("paidPico").alias("paidPico"), F.sum("lostPico").alias("lostPico"))
    totals["cost"] = [
        {"currency": cost.currency, "paidPico": int(cost.paidPico), "lostPico": int(cost.lostPico)}
        for cost in costs.orderBy("currency").collect()
    ]
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default="dsh-audit")
    parser.add_argument("--out", required=True, help="a new folder for the rows")
    parser.add_argument("logs", nargs="+")
    args = parser.parse_args()

    spark = SparkSession.builder.appName("dsh-audit cache-report").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    program = args.program
    logs = spark.sparkContext.parallelize(args.logs, len(args.logs))
    answers = logs.flatMap(lambda path: report(program, path)).cache()
    errors = answers.filter(lambda answer: answer[0] == "error").values().collect()
    answers.filter(lambda answer: answer[0] == "row").values().coalesce(8).saveAsTextFile(args.out)

    table = spark.read.schema(schema_of(program)).json(args.out)
    table.where("certainty is not null").groupBy(F.coalesce("cause", F.lit("unexplained")).alias("cause")).agg(
        F.count("*").alias("requests"), F.sum("lost").alias("lost")
    ).orderBy(F.desc("lost")).show(truncate=False)
    ours = sums(table)
    spark.stop()

    parts = sorted(glob.glob(f"{args.out}/part-*"))
    merged = subprocess.run([program, "merge", "--format", "json", *parts], capture_output=True, check=True).stdout
    theirs = json.loads(merged)["totals"]
    theirs = {name: theirs[name] for name in ours}
    print("spark:", json.dumps(ours))
    print("merge:", json.dumps(theirs))
    for error in errors:
        print(error, file=sys.stderr)
    if ours != theirs:
        sys.exit("the sums differ")
    sys.exit(2 if errors else 0)


if __name__ == "__main__":
    main()
