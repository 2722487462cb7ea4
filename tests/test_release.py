"""What a release is made of says the same everywhere: one version, the dependencies of the recipe, commands that there are."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def listed(name):
    found = re.search(rf"^{name} = \[\n(.*?)^\]", PROJECT, re.MULTILINE | re.DOTALL)
    return re.findall(r'^    "(.*)",$', found[1], re.MULTILINE)


def test_one_version_is_named_everywhere():
    done = subprocess.run([sys.executable, ROOT / ".ci" / "version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    other = subprocess.run(
        [sys.executable, ROOT / ".ci" / "version", "77.0"], capture_output=True, text=True, check=False
    )
    assert other.returncode == 1
    assert "CHANGELOG.md has no section 77.0" in other.stdout


def test_the_recipe_has_the_dependencies():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    wanted = {re.sub(r"([<>=]+)", r" \1", one) for one in listed("dependencies")}
    assert {one for one in recipe["requirements"]["run"] if not one.startswith("python >")} == wanted


def test_the_workflows_call_what_there_is():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        commands = "\n".join(step["run"] for job in content["jobs"].values() for step in job["steps"] if "run" in step)
        assert set(re.findall(r"make (\w+)", commands)) <= targets
        assert all((ROOT / script).exists() for script in re.findall(r"\.ci/\w+", commands))


def test_every_supported_python_is_tried():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    tried = workflow["jobs"]["suite"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", PROJECT)
    assert tried == named
    assert f'requires-python = ">={named[0]}"' in PROJECT
