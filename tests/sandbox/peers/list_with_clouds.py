"""boto3 and obstore list and read a bucket: `list_with_clouds.py URL BUCKET PREFIX`."""

import json
import sys
from typing import Any

import boto3
import obstore
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
from obstore.store import S3Store

url, bucket, prefix = sys.argv[1:]
quiet = Config(signature_version=UNSIGNED, s3={"addressing_style": "path"}, retries={"max_attempts": 1})
s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=quiet)
paging = {"Bucket": bucket, "Prefix": prefix, "PaginationConfig": {"PageSize": 3}}
pages = list(s3.get_paginator("list_objects_v2").paginate(**paging))
old = [row["Key"] for page in s3.get_paginator("list_objects").paginate(**paging) for row in page["Contents"]]
keys = [row["Key"] for page in pages for row in page["Contents"]]
folders = s3.list_objects_v2(Bucket=bucket, Delimiter="/")
head = s3.head_object(Bucket=bucket, Key=keys[0])
body = s3.get_object(Bucket=bucket, Key=keys[0], Range="bytes=0-3")["Body"].read()


def code(**wanted: str) -> Any:
    """The S3 error code."""
    try:
        s3.get_object(Bucket=bucket, **wanted)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


store = S3Store(
    bucket, endpoint=f"{url}{bucket}", region="us-east-1", skip_signature=True, client_options={"allow_http": True},
    virtual_hosted_style_request=True,
)  # fmt: skip
stored = [row["path"] for batch in obstore.list(store, prefix=prefix.rpartition("/")[0]) for row in batch]
print(
    json.dumps(
        {
            "pages": len(pages),
            "keys": keys,
            "old": old,
            "folders": [row["Prefix"] for row in folders["CommonPrefixes"]],
            "size": head["ContentLength"],
            "etag": head["ETag"],
            "body": body.decode("latin-1"),
            "codes": [
                code(Key="no/such"),
                code(Key=keys[0], Range="bytes=999999999-"),
                code(Key=keys[0], IfMatch='"another"'),
            ],
            "obstore": stored,
            "obstore_range": bytes(obstore.get_range(store, keys[0], start=0, end=4)).decode("latin-1"),
        }
    )
)
