"""Folders are removed with what is in them."""

from gpuetl.places.local import folders
from gpuetl.places.local.folders import remove_folder


def test_a_folder_goes_with_all_that_is_in_it_and_nothing_else(tmp_path):
    """Files at any depth; of links the links."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    folder = tmp_path / "folder"
    (folder / "a/b").mkdir(parents=True)
    (folder / "empty").mkdir()
    for number in range(20):
        (folder / f"a/b/{number}").write_text("x")
    (folder / "link").symlink_to(kept)
    (folder / "a/broken").symlink_to(tmp_path / "nothing")
    (folder / "a/to_file").symlink_to(kept / "file")
    remove_folder(folder)
    assert not folder.exists()
    assert (kept / "file").read_text() == "x"


def test_a_folder_that_is_not_there_is_removed_already(tmp_path):
    """As it is after a first call."""
    remove_folder(tmp_path / "nothing")


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    """Nor is it a folder that goes."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    remove_folder(tmp_path / "link")
    assert (tmp_path / "kept/file").read_text() == "x"


def test_a_folder_goes_also_where_no_thread_can_be_had(tmp_path, monkeypatch):
    """A run has committed its sinks then, and is no failure for that."""

    def refuse(*_):
        raise RuntimeError("can't start new thread")

    (tmp_path / "folder/a").mkdir(parents=True)
    for number in range(3):
        (tmp_path / f"folder/a/{number}").write_text("x")
    monkeypatch.setattr(folders, "in_threads", refuse)
    remove_folder(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
