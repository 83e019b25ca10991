"""The manifests of deploy/kubernetes: valid, hardened, in step with themselves, the compose file and the settings."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from ism_cli.main import main
from ism_jobs.settings import Settings

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "deploy" / "kubernetes"
MANIFESTS: list[dict[str, Any]] = [
    manifest for path in sorted(FOLDER.glob("*.yaml")) for manifest in yaml.safe_load_all(path.read_text())
]
VERSIONS = ("1.29", "1.34")  # of Kubernetes: the oldest and a recent one
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def named(manifest: dict[str, Any]) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


BY_NAME = {named(manifest): manifest for manifest in MANIFESTS}
WORKLOADS = {name: one for name, one in BY_NAME.items() if one["kind"] in ("Deployment", "StatefulSet")}
PODS: dict[str, Any] = {name: one["spec"]["template"] for name, one in WORKLOADS.items()}
CONTAINERS = [
    (name, one) for name, pod in PODS.items() for kind in ("initContainers", "containers")
    for one in pod["spec"].get(kind, [])
]  # fmt: skip
LABELS = {pod["metadata"]["labels"]["app"] for pod in PODS.values()}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_manifest_fits_its_schema(name: str, version: str) -> None:
    kubernetes_validate.validate(BY_NAME[name], version, strict=True)


def test_the_schemas_refuse_an_unknown_field_and_a_wrong_type() -> None:
    for wrong in ({"replica": 1}, {"replicas": "many"}):
        broken = {**BY_NAME["Deployment/ism-api"], "spec": {**BY_NAME["Deployment/ism-api"]["spec"], **wrong}}
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_no_name_is_used_twice_and_all_are_in_one_namespace() -> None:
    assert len(BY_NAME) == len(MANIFESTS)
    assert {one["metadata"].get("namespace", "ism") for one in MANIFESTS} == {"ism"}


@pytest.mark.parametrize(("name", "container"), CONTAINERS)
def test_containers_run_with_as_few_rights_as_they_need(name: str, container: dict[str, Any]) -> None:
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    pod = PODS[name]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert "memory" in container["resources"]["limits"]
    assert not re.search(r":latest$|/[^:]*$", container["image"]), "an image has a version"


def test_selectors_find_their_pods() -> None:
    for name, one in WORKLOADS.items():
        assert one["spec"]["selector"]["matchLabels"] == PODS[name]["metadata"]["labels"]
    for one in MANIFESTS:
        if one["kind"] == "Service":
            assert one["spec"]["selector"]["app"] in LABELS
            (pod,) = (pod for pod in PODS.values() if pod["metadata"]["labels"] == one["spec"]["selector"])
            ports = {port["name"]: port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]}
            wanted = one["spec"]["ports"][0].get("targetPort", one["spec"]["ports"][0]["port"])
            assert wanted in (*ports, *ports.values())
        if one["kind"] == "PodDisruptionBudget":
            assert one["spec"]["selector"]["matchLabels"]["app"] in LABELS


def test_secrets_exist_with_their_keys_and_no_value_that_works() -> None:
    for _, container in CONTAINERS:
        for variable in container.get("env", []):
            if wanted := variable.get("valueFrom", {}).get("secretKeyRef"):
                assert wanted["key"] in BY_NAME[f"Secret/{wanted['name']}"]["stringData"]
    assert all("replace-me" in value for one in MANIFESTS for value in one.get("stringData", {}).values())


def test_variables_are_settings_and_commands_are_accepted() -> None:
    known = {f"ISM_{name.upper()}" for name in Settings.model_fields}
    for _, container in CONTAINERS:
        names = [variable["name"] for variable in container.get("env", [])]
        assert {name for name in names if name.startswith("ISM_")} <= known
        used = re.findall(r"\$\((\w+)\)", str(container))
        assert all(names.index("REDIS_PASSWORD") < names.index("ISM_REDIS_URL") for name in used if "PASSWORD" in name)
        if container.get("command", [""])[0] == "ism":
            _, name, *options = container["command"]
            command = main.get_command(click.Context(main), name)
            assert command is not None
            command.make_context(name, options)


def test_redis_has_the_options_of_the_compose_file_and_a_password() -> None:
    (container,) = PODS["StatefulSet/ism-redis"]["spec"]["containers"]
    given, composed = (dict(pairwise(words[1:])) for words in (container["args"], COMPOSE["redis"]["command"]))
    limit = {"--maxmemory"}
    options = {name for name in composed if name.startswith("--")} - limit
    assert {name: given[name] for name in options} == {name: composed[name] for name in options}
    assert "--requirepass" in given
    assert container["image"] in COMPOSE["redis"]["image"]


def test_probes_ask_the_routes_of_the_api() -> None:
    (container,) = PODS["Deployment/ism-api"]["spec"]["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == container["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"] >= 120


def test_the_autoscaler_follows_the_length_of_the_queue() -> None:
    scaler = BY_NAME["HorizontalPodAutoscaler/ism-worker"]["spec"]
    assert f"{scaler['scaleTargetRef']['kind']}/{scaler['scaleTargetRef']['name']}" in WORKLOADS
    assert "replicas" not in WORKLOADS["Deployment/ism-worker"]["spec"], "apply would undo the autoscaler"
    metric = scaler["metrics"][0]["external"]["metric"]["name"]
    assert f'"{metric}"' in (ROOT / "app" / "monitoring.py").read_text()
    assert metric in (FOLDER / "README.md").read_text()


def test_everything_is_denied_and_redis_is_open_to_the_api_and_the_workers_only() -> None:
    deny = BY_NAME["NetworkPolicy/deny-all"]["spec"]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    redis = BY_NAME["NetworkPolicy/redis-from-api-and-workers"]["spec"]
    assert redis["podSelector"]["matchLabels"]["app"] == "ism-redis"
    (rule,) = redis["ingress"]
    assert [one["podSelector"]["matchLabels"]["app"] for one in rule["from"]] == ["ism-api", "ism-worker"]
