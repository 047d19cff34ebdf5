"""What the benchmarks of team memory count, and the servers that they make fail."""

import socket
from contextlib import closing

import pytest
from benchmarks.synthetic import Language
from benchmarks.team_exchange import body_text, decisions
from benchmarks.team_servers import dead_port, silent_port, slow_port
from benchmarks.team_walk import developer_names

from claude_mem_lite.team.body import read_body


def test_developers_get_letters_by_the_number_of_their_sessions() -> None:
    assert developer_names(["x", "y", "y", "z", "y", "z"]) == {"y": "A", "z": "B", "x": "C"}


def test_a_dead_server_refuses_connections() -> None:
    with dead_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_silent_server_accepts_and_says_nothing() -> None:
    with silent_port() as port, closing(socket.create_connection(("127.0.0.1", port))) as client:
        client.sendall(b"hello")
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)


def test_a_slow_server_passes_everything_on() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        slow_port(listener.getsockname()[1], 0.0) as port,
        closing(socket.create_connection(("127.0.0.1", port))) as client,
    ):
        server, _ = listener.accept()
        with closing(server):
            client.sendall(b"question")
            assert server.recv(8, socket.MSG_WAITALL) == b"question"
            server.sendall(b"answer")
            assert client.recv(6, socket.MSG_WAITALL) == b"answer"


def test_made_up_bodies_can_be_read() -> None:
    for memory in decisions(Language(), 20):
        body = read_body(body_text(memory))
        assert (body.kind, body.title, body.files) == ("decision", memory.title, memory.files)
