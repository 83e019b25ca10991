import pytest

from ism_client import Client
from tests.support.scripted_service import Service


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def sleeps() -> list[float]:
    return []


@pytest.fixture
def client(service, sleeps):
    with Client("http://ism.test", transport=service) as client:
        client._http.wire.pause = sleeps.append  # type: ignore[attr-defined]  # of a SyncWire
        yield client
