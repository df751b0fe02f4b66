"""aws-cli and boto3 against moto: ranges and checksums of S3, uploads in parts, DynamoDB, SQS, SNS, event streams."""
import re

from harness import free_port, noise

NEEDS = "curl:curl"
PYPI = ["awscli==1.46.3", "boto3==1.44.8", "awscrt==0.38.1", "moto[dynamodb,s3,server,sns,sqs]==5.2.5"]
BOUND = 900

SECRET = "hunter2hunter2"
DOCUMENT = '{"user": "alice", "password": "%s", "note": "a document with a secret"}\n' % SECRET
ALGORITHMS = ["CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"]

PRELUDE = """
import boto3, botocore, json, os, sys, hashlib
from botocore.config import Config
URL = sys.argv[1]
def client(service, **settings):
    return boto3.client(service, endpoint_url=URL, region_name="us-east-1", config=Config(retries={"max_attempts": 1}, **settings))
def show(name, value):
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key != "ResponseMetadata"}
    print(name, json.dumps(value, sort_keys=True, default=lambda item: item.read().decode() if hasattr(item, "read") else str(item)))
"""

GET = """
s3 = client("s3")
for algorithm in sys.argv[2].split(","):
    for key in ("document.json", "plain.txt"):
        answer = s3.get_object(Bucket="data", Key=f"{algorithm}/{key}", ChecksumMode="ENABLED")
        show(f"get {algorithm} {key}", answer)
        show(f"head {algorithm} {key}", s3.head_object(Bucket="data", Key=f"{algorithm}/{key}", ChecksumMode="ENABLED"))
for wanted in ("bytes=0-9", "bytes=100-199", "bytes=-50"):
    show(f"range {wanted}", s3.get_object(Bucket="data", Key="lines.txt", Range=wanted))
show("list", s3.list_objects_v2(Bucket="data", Prefix="many/", MaxKeys=3))
pages = s3.get_paginator("list_objects_v2").paginate(Bucket="data", Prefix="many/", PaginationConfig={"PageSize": 4})
show("pages", [[item["Key"] for item in page["Contents"]] for page in pages])
try:
    s3.get_object(Bucket="data", Key="missing")
except s3.exceptions.NoSuchKey as error:
    show("missing", str(error))
try:
    s3.head_object(Bucket="data", Key="missing")
except botocore.exceptions.ClientError as error:
    show("missing head", str(error))
"""

PUT = """
s3 = client("s3")
for algorithm in sys.argv[2].split(","):
    show(f"put {algorithm}", s3.put_object(Bucket="data", Key=f"put-{algorithm}", Body=b"content " * 100, ChecksumAlgorithm=algorithm))
    show(f"got {algorithm}", s3.get_object(Bucket="data", Key=f"put-{algorithm}", ChecksumMode="ENABLED"))
show("delete", s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": "put-CRC32"}, {"Key": "absent"}]}))
"""

UPLOAD = """
s3 = client("s3")
show("put document", s3.put_object(Bucket="data", Key="put-document", Body=json.dumps({"password": os.environ["SECRET"]}).encode(), ContentType="application/json"))
show("got document", s3.get_object(Bucket="data", Key="put-document"))
"""

TRANSFER = """
s3 = client("s3")
s3.upload_file("large.bin", "data", "large-copy")
s3.download_file("data", "large-copy", "large-again.bin")
show("head", s3.head_object(Bucket="data", Key="large-copy"))
"""

OTHERS = """
dynamo = client("dynamodb")
dynamo.create_table(TableName="pets", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])
dynamo.get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1, "MaxAttempts": 5})
for number in range(5):
    dynamo.put_item(TableName="pets", Item={"id": {"S": str(number)}, "name": {"S": f"pet {number}"}})
show("item", dynamo.get_item(TableName="pets", Key={"id": {"S": "3"}}))
show("names", sorted(item["name"]["S"] for item in dynamo.scan(TableName="pets")["Items"]))
show("pages", [sorted(item["id"]["S"] for item in page["Items"]) for page in dynamo.get_paginator("scan").paginate(TableName="pets", PaginationConfig={"PageSize": 2})])
dynamo.delete_item(TableName="pets", Key={"id": {"S": "3"}})
show("gone", dynamo.get_item(TableName="pets", Key={"id": {"S": "3"}}))
try:
    dynamo.get_item(TableName="none", Key={"id": {"S": "3"}})
except dynamo.exceptions.ResourceNotFoundException as error:
    show("no table", str(error))
sqs = client("sqs")
queue = sqs.create_queue(QueueName="work")["QueueUrl"]
for text in ("one", "two", json.dumps({"password": os.environ["SECRET"]})):
    show("sent", {"md5": sqs.send_message(QueueUrl=queue, MessageBody=text)["MD5OfMessageBody"] if "password" not in text else ""})
received = []
for _ in range(3):
    for message in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=1).get("Messages", []):
        received.append(message["Body"])
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
show("received", received)
sns = client("sns")
topic = sns.create_topic(Name="news")["TopicArn"]
show("published", bool(sns.publish(TopicArn=topic, Message="hello & <goodbye>")["MessageId"]))
show("topics", sns.list_topics()["Topics"])
sts = client("sts")
show("who", sts.get_caller_identity())
"""

TYPED = """
dynamo = client("dynamodb")
dynamo.create_table(TableName="users", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])
dynamo.put_item(TableName="users", Item={"id": {"S": "1"}, "password": {"S": os.environ["SECRET"]}})
show("item", dynamo.get_item(TableName="users", Key={"id": {"S": "1"}}))
"""

SELECT = """
s3 = client("s3")
answer = s3.select_object_content(Bucket="data", Key="rows.json", ExpressionType="SQL", Expression="SELECT * FROM S3Object s",
    InputSerialization={"JSON": {"Type": "LINES"}}, OutputSerialization={"JSON": {}})
for event in answer["Payload"]:
    show("event", event if "Records" not in event else {"records": event["Records"]["Payload"].decode()})
"""

SEED = """
s3 = client("s3")
s3.create_bucket(Bucket="data")
for algorithm in sys.argv[2].split(","):
    s3.put_object(Bucket="data", Key=f"{algorithm}/document.json", Body=open("document.json", "rb").read(), ChecksumAlgorithm=algorithm, ContentType="application/json")
    s3.put_object(Bucket="data", Key=f"{algorithm}/plain.txt", Body=b"plain text", ChecksumAlgorithm=algorithm, ContentType="text/plain")
s3.put_object(Bucket="data", Key="lines.txt", Body="".join(f"line {n}\\n" for n in range(100)).encode(), ContentType="text/plain")
for number in range(10):
    s3.put_object(Bucket="data", Key=f"many/{number}", Body=str(number).encode())
s3.put_object(Bucket="data", Key="large.bin", Body=open("large.bin", "rb").read())
s3.put_object(Bucket="data", Key="rows.json", Body=open("rows.json", "rb").read())
for number in range(5):
    s3.put_object(Bucket="data", Key=f"folder/{number}.json", Body=json.dumps({"number": number, "password": os.environ["SECRET"]}).encode(), ContentType="application/json")
"""


def run(lab):
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    lab.environment |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
                        "AWS_PAGER": "", "SECRET": SECRET, "PYTHONDONTWRITEBYTECODE": "1"}
    large = noise(26 << 20)
    lab.write("document.json", DOCUMENT)
    lab.write("large.bin", large)
    lab.write("rows.json", "".join('{"id": %d, "password": "%s"}\n' % (number, SECRET) for number in range(3)))
    lab.start("moto", [lab.tools / "bin" / "moto_server", "-H", "127.0.0.1", "-p", port], port, environment={"AWS_ACCESS_KEY_ID": "server"})
    for name, text in [("seed", SEED), ("get", GET), ("put", PUT), ("upload", UPLOAD), ("transfer", TRANSFER), ("others", OTHERS), ("typed", TYPED), ("select", SELECT)]:
        lab.write(f"aws_{name}.py", PRELUDE + text)
    python = lab.tools / "bin" / "python"
    seeded = lab.client([python, lab.path("aws_seed.py"), origin, ",".join(ALGORITHMS)])
    if not lab.check(seeded.returncode == 0, f"moto could not be filled: {seeded.stderr.decode()[-500:]}", lab.path("moto.log")):
        return

    def case(name, *arguments, secrets=(), **settings):
        lab.record(name, [python, lab.path(f"aws_{name.split('-')[0]}.py"), origin, *arguments], setup=copy(lab),
                   secrets=[(SECRET, "password"), *secrets], normalize=normal, **settings)

    for algorithm in ALGORITHMS:
        case(f"get-{algorithm}", algorithm, expect=[f"get {algorithm} document.json", "missing head"])
    case("put-each", ",".join(ALGORITHMS), expect=["put CRC64NVME", "delete"])
    case("upload-secret", expect=["got document"])
    case("transfer-large", expect=["head"])
    # moto answers with a key id of Amazon's documentation, which looks like any other.
    case("others", secrets=[("AKIAIOSFODNN7EXAMPLE", "aws-key")], expect=["no table", "received", "topics"])
    # A value of DynamoDB has its type around it: {"password": {"S": "..."}}.
    case("typed-values", expect=["item"])
    case("select", expect=["records"])

    aws = f"aws --endpoint-url {origin}"
    for name, command in {
        "cp-down": f"{aws} s3 cp --no-progress s3://data/large.bin down.bin",
        "cp-up": f"{aws} s3 cp --no-progress large.bin s3://data/up.bin",
        "ls": f"{aws} s3 ls s3://data/many/\n{aws} s3 ls",
        "sync-down": f"{aws} s3 sync --no-progress s3://data/folder folder\n{aws} s3 sync --no-progress s3://data/folder folder",
        "sync-up": f"mkdir up\nfor n in 1 2 3; do echo file $n >up/$n.txt; done\n{aws} s3 sync --no-progress up s3://data/synced\n{aws} s3 ls s3://data/synced/",
        "rm": f"{aws} s3 rm --recursive s3://data/synced",
        "cat": f"{aws} s3 cp s3://data/CRC32/document.json -",
    }.items():
        lab.record(name, command, setup=copy(lab), secrets=[(SECRET, "password")], normalize=sorted_lines)
    lab.replay()
    for run in ("recorded", "replayed"):
        file = lab.path("cases", "cp-down", run, "down.bin")
        lab.check(file.exists() and file.read_bytes() == large, f"cp-down: the {run} file is not the origin's", lab.path("cases", "cp-down"))


def copy(lab):
    def setup(run):
        (run / "large.bin").write_bytes(lab.path("large.bin").read_bytes())
    return setup


def normal(name, content):
    # The recorded length and checksum are those of the document with its secret.
    content = re.sub(rb'"(ContentLength|BytesReturned|BytesScanned|BytesProcessed)": "?\d+"?', rb'"\1": 0', content)
    return re.sub(rb'"(Checksum[A-Z0-9]+|ETag)": "[^ ]*"', rb'"\1": ""', content)


def sorted_lines(name, content):
    """aws-cli prints transfers as they end, several at once."""
    return b"\n".join(sorted(content.split(b"\n"))) if name == "stdout" else content
