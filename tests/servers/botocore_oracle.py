"""Signatures as AWS's own library makes them. Run by the Python of the environment `moto`, which has botocore: it reads
a JSON list of requests from standard input, and writes a list of headers."""

import datetime
import json
import sys

import botocore.auth
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def signed(one: dict[str, str]) -> dict[str, str]:
    moment = datetime.datetime.fromisoformat(one["now"])
    botocore.auth.get_current_datetime = lambda: moment
    request = AWSRequest(one["method"], one["url"], headers=json.loads(one["headers"]), data=one["content"].encode())
    keys = Credentials(one["access_key"], one["secret_key"], one["session_token"] or None)
    SigV4Auth(keys, one["service"], one["region"]).add_auth(request)
    return dict(request.headers.items())


json.dump([signed(one) for one in json.load(sys.stdin)], sys.stdout)
