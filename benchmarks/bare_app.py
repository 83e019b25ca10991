"""What the service's POST /jobs is compared with: a FastAPI route that does nothing but enqueue an RQ job."""

import os

from fastapi import FastAPI
from pydantic import BaseModel
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

app = FastAPI()
queue = Queue("bare", connection=Redis.from_url(os.environ["ISM_REDIS_URL"]), serializer=JSONSerializer)


class Job(BaseModel):
    dataset: str
    q: int


@app.post("/jobs", status_code=202)
def post_job(job: Job) -> dict[str, str]:
    return {"id": queue.enqueue("time.sleep", job.q).id}
