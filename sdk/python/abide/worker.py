"""Worker: does the tasks of a server, and executes its workflows, with functions of this program.

Threads: one claims tasks, one sends heartbeats, one sends results, and up to `concurrency` run
task functions. All state is behind one condition. Workflows have threads of their own
(workflows/service.py).

  [W1] At most `concurrency` functions run, and nothing is claimed that could not begin at once.
  [W2] A result is sent until the server has accepted or refused it. Repeating one is harmless: the
       token decides.
  [W3] While a function runs its lease is renewed, each time well before it ends.
  [W4] Stopping claims nothing any more, lets functions finish, and hands back what did not finish
       in time, so that another worker can begin it at once and no attempt is lost.
  [W5] What happens is said once (voice.py): connected, lost, back, refused, stopped, and every
       exception of a function with its traceback.
"""
from __future__ import annotations

import asyncio
import inspect
import logging
import os
import queue
import random
import signal
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from .aio import AsyncTransport
from .client import Client
from .errors import AbideError, ApiError, ServerUnreachable, TaskCancelled, TaskError
from .fields import Duration, in_milliseconds, seconds
from .jobs import Item, Job, TaskFunction, describe, takes_context
from .transport import Backoff, to_json
from .voice import Link, say, way_out
from .workflows.definition import Workflow
from .workflows.service import Options, Service

_BATCH_MAX = 1000  # items of one request
_BATCH_BYTES = 1 << 20
_OUTBOX_MAX = 2000  # results waiting to be sent; more are not made
_PROGRESS_EVERY = 1.0  # seconds between heartbeats that only tell progress
_LAST_MOMENT = 2.0  # for functions that are told to stop after the grace is over
_PERMANENT = (400, 401, 403, 404, 405, 413, 422)


class Worker:
    """Registers task functions and workflows, and works until it is stopped.

    server, token, timeout, ssl_context  as for Client
    queues       which queues to take tasks from
    concurrency  how many functions may run at once
    name         shown to operators; made of host and process unless given
    lease        how long the server waits for a sign of life before it gives a task to another
    heartbeat    how often to give one; also how soon a cancellation is noticed
    grace        how long stopping waits for functions to finish
    poll         how long one claim waits for tasks
    turns        how many runs of workflows may be executing at once
    step_threads how many steps of them may
    max_runs_in_memory  how many suspended runs stay in memory; the others are replayed

    It speaks through the logger "abide", or to standard error if logging is not configured.
    """

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None,
                 queues: Sequence[str] = ("default",), concurrency: int = 10,
                 name: Optional[str] = None, lease: Duration = 30,
                 heartbeat: Optional[Duration] = None, grace: Duration = 30,
                 poll: Duration = 25, turns: int = 1000, step_threads: int = 64,
                 max_runs_in_memory: int = 10_000, timeout: Duration = 30,
                 ssl_context: Optional[ssl.SSLContext] = None):
        if concurrency < 1:
            raise ValueError("concurrency: at least 1")
        if turns < 1 or step_threads < 1 or max_runs_in_memory < 0:
            raise ValueError("turns, step_threads: at least 1; max_runs_in_memory: at least 0")
        if isinstance(queues, str):
            raise TypeError("queues: must be a list of texts, not %r" % queues)
        self.client = Client(server, token=token, timeout=timeout, ssl_context=ssl_context)
        self.queues = list(queues)
        self.concurrency = concurrency
        self.name = name or "%s-%d-%04x" % (socket.gethostname(), os.getpid(),
                                            random.randrange(1 << 16))
        self.lease = seconds(lease, "lease")
        self.heartbeat = (min(5.0, self.lease / 3) if heartbeat is None
                          else seconds(heartbeat, "heartbeat"))
        self.grace = seconds(grace, "grace")
        self._poll = seconds(poll, "poll")
        self._workflow_options = Options(self.name, self.lease, self.heartbeat, self._poll, turns,
                                         step_threads, max_runs_in_memory)
        self._workflows: List[Workflow[Any, Any]] = []
        self._step_mocks: Dict[str, Callable[..., Any]] = {}
        self._service: Optional[Service] = None
        self._background: Optional[threading.Thread] = None
        self._functions: Dict[str, TaskFunction] = {}
        self._takes_context: Dict[str, bool] = {}
        self._changed = threading.Condition()
        self._jobs: Dict[int, Job] = {}  # by token: a task may come back while it still runs
        self._outbox: List[Item] = []
        self._in_flight = 0  # items being sent
        self._asked = 0  # tasks that claims under way may bring
        self._pool_size = 0
        self._pool_idle = 0
        self._todo: "queue.SimpleQueue[Optional[Job]]" = queue.SimpleQueue()
        self._is_stopping = False
        self._has_ended = False
        self._failure: Optional[Exception] = None
        self._done_count = self._failed_count = self._released_count = 0
        self._bell, self._listener = socket.socketpair()  # stop() may be called by a signal
        self._bell.setblocking(False)

    # ---- what a program calls ----

    def task(self, name: Union[str, TaskFunction, None] = None) -> Any:
        """Decorator: @worker.task, or @worker.task("name")."""
        if callable(name):
            self.add(name.__name__, name)
            return name

        def register(function: TaskFunction) -> TaskFunction:
            self.add(name if isinstance(name, str) else function.__name__, function)
            return function
        return register

    def add(self, name: str, function: TaskFunction) -> None:
        """function(input) or function(input, context); it may be a coroutine function."""
        if name in self._functions:
            raise ValueError("the task %r is registered already" % name)
        self._functions[name] = function
        self._takes_context[name] = takes_context(function)

    def workflow(self, *definitions: Workflow[Any, Any]) -> None:
        """Registers workflows. Several versions of one may be served, the last one is new."""
        for definition in definitions:
            if not isinstance(definition, Workflow):
                raise TypeError("not a workflow: %r; decorate the function with @workflow" % (
                    definition,))
            if any((each.name, each.version) == (definition.name, definition.version)
                   for each in self._workflows):
                raise ValueError("version %s of the workflow %r is registered already" % (
                    definition.version, definition.name))
            self._workflows.append(definition)

    def __enter__(self) -> "Worker":
        """Works in the background, until the end of the block."""
        self._must_have_work()
        self._background = self._thread(self._run_in_background)
        return self

    def __exit__(self, kind: Any = None, *_: Any) -> None:
        self.stop()
        if self._background is not None:
            self._background.join()
        if kind is None and self._failure is not None:
            raise self._failure

    def _run_in_background(self) -> None:
        try:
            self.run(handle_signals=False)
        except Exception as error:
            self._failure = error  # __exit__ raises it

    def _must_have_work(self) -> None:
        if not self._functions and not self._workflows:
            raise AbideError("no task function and no workflow is registered")

    def run(self, *, handle_signals: bool = True) -> None:
        """Works until stop() is called, or SIGTERM or SIGINT comes; a second signal kills."""
        self._must_have_work()
        handle_signals = handle_signals and threading.current_thread() is threading.main_thread()
        old = {number: signal.signal(number, self._on_signal)
               for number in (signal.SIGTERM, signal.SIGINT)} if handle_signals else {}
        self._link = Link(self.client.transport.url, self._about())
        claimer = self._thread(self._claim_forever if self._functions else lambda: None)
        others = [self._thread(self._heartbeat_forever), self._thread(self._send_forever)]
        self._begin_workflows()
        try:
            self._listener.recv(1)
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
            if self._service is not None:
                service = self._service
                others.append(self._thread(lambda: service.stop(self.grace)))
            self._wind_up(claimer)
            for thread in others:
                thread.join(1 if thread is not others[-1] else None)
            self.client.close()
        say(logging.INFO, "worker %s has stopped: %d tasks done, %d failed, %d handed back",
            self.name, self._done_count, self._failed_count, self._released_count)
        if self._failure is not None:
            raise self._failure

    def _about(self) -> str:
        tasks = "asks for %s of queue %s" % (", ".join(sorted(self._functions)),
                                             ", ".join(self.queues))
        flows = "executes " + ", ".join("%s (version %s)" % (each.name, each.version)
                                        for each in self._workflows)
        return "worker %s %s" % (self.name, " and ".join(
            text for text, is_so in ((tasks, self._functions), (flows, self._workflows)) if is_so))

    def _begin_workflows(self) -> None:
        if not self._workflows:
            return
        self._service = Service(self._transport_of_workflows(), self._link,
                                self._workflow_options, self._workflows, self._refused)
        self._service.mocks = self._step_mocks
        self._service.begin()

    def _transport_of_workflows(self) -> AsyncTransport:
        return AsyncTransport.like(self.client.transport)

    def wait_until_ready(self, timeout: Duration = 30) -> bool:
        """Until it asks for turns of its workflows; False when `timeout` passed first."""
        until = time.monotonic() + seconds(timeout, "timeout")
        while self._service is None and self._background is not None and time.monotonic() < until:
            time.sleep(0.001)  # it is about to begin
        return self._service is not None and self._service.is_serving.wait(
            max(0.0, until - time.monotonic()))

    def stop(self) -> None:
        """Makes run() end in order. Any thread, or a signal handler; it does not wait."""
        try:
            self._bell.send(b"x")
        except BlockingIOError:
            pass

    def _on_signal(self, number: int, _frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        self.stop()

    @staticmethod
    def _thread(function: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=function, daemon=True)
        thread.start()
        return thread

    # ---- claiming ----

    def _ask(self, count: int) -> Dict[str, Any]:
        return {"worker": self.name, "queues": self.queues, "names": list(self._functions),
                "max": count, "lease": in_milliseconds(self.lease)}

    def _claim(self, count: int, wait: float) -> List[Dict[str, Any]]:
        answer: List[Dict[str, Any]] = self.client.transport.call(
            "POST", "/v1/tasks/claim", wait=wait, retry_for=0,
            body={**self._ask(count), "wait": in_milliseconds(wait)})["tasks"]
        return answer

    def _room(self) -> int:  # [W1]: beyond what runs and what was asked for; taken by who asks
        if self._is_stopping or not self._functions or len(self._outbox) >= _OUTBOX_MAX:
            return 0
        room = max(0, min(self.concurrency - len(self._jobs) - self._asked, _BATCH_MAX))
        self._asked += room
        return room

    def _wait_for_room(self) -> int:  # 0 = stopping
        with self._changed:
            while not self._is_stopping:
                is_reporting = bool(self._outbox) or self._in_flight > 0  # that brings tasks, too
                room = 0 if is_reporting else self._room()
                if room > 0:
                    return room
                self._changed.wait()
        return 0

    def _give_back(self, room: int) -> None:
        with self._changed:
            self._asked -= room
            self._changed.notify_all()

    def _claim_forever(self) -> None:
        backoff = Backoff()
        while True:
            room = self._wait_for_room()
            if room == 0:
                return
            try:
                # A first claim that does not wait finds out at once whether there is a server.
                tasks = self._claim(room, self._poll if self._link.is_up else 0)
            except (ApiError, ServerUnreachable) as error:
                if isinstance(error, ApiError) and error.status in _PERMANENT:
                    self._refused(error)
                    return
                self._give_back(room)
                self._link.down(error)
                self._pause(backoff)
                continue
            self._link.up()
            backoff.reset()
            self._begin(tasks, room)

    def _refused(self, error: ApiError) -> None:
        say(logging.ERROR, "%s refuses worker %s: %s: %s", self.client.transport.url, self.name,
            error, way_out(error.status, self.client.transport.url,
                           self.client.transport.has_token))
        self._failure = error
        self.stop()

    def _pause(self, backoff: Backoff) -> None:
        until = time.monotonic() + backoff.pause()
        with self._changed:
            while not self._is_stopping and time.monotonic() < until:
                self._changed.wait(until - time.monotonic())

    def _begin(self, tasks: List[Dict[str, Any]], room: int) -> None:
        with self._changed:
            self._asked -= room
            for task in tasks:
                if self._is_stopping:  # [W4]
                    self._outbox.append(Item(task, '"release":true'))
                    continue
                self._jobs[task["token"]] = job = Job(self, task)
                self._todo.put(job)
                if self._pool_idle < self._todo.qsize() and self._pool_size < self.concurrency:
                    self._pool_size += 1
                    self._thread(self._work_forever)
            self._changed.notify_all()

    # ---- working ----

    def _work_forever(self) -> None:
        while True:
            with self._changed:
                self._pool_idle += 1
            job = self._todo.get()
            with self._changed:
                self._pool_idle -= 1
            if job is None:
                return
            member = self._perform(job)
            with self._changed:
                if self._jobs.pop(job.task["token"], None) is job and member is not None:
                    self._outbox.append(Item(job.task, member))
                self._changed.notify_all()

    def _perform(self, job: Job) -> Optional[str]:
        """Runs the function; answers what to tell the server, if anything."""
        name = job.task["name"]
        arguments = (job.task.get("input"), job.context)[:2 if self._takes_context[name] else 1]
        try:
            value = self._functions[name](*arguments)
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
            return '"result":' + self._encode(value)
        except BaseException as error:  # SystemExit too: a task does not end the worker
            return self._failed(job, error)

    def _failed(self, job: Job, error: BaseException) -> Optional[str]:
        context = job.context
        about: Dict[str, Any] = {"task_id": context.id, "task_name": context.name, "attempt": context.attempt,
                 "run_id": context.run_id}
        if context.reason is not None and isinstance(error, TaskCancelled):
            say(logging.INFO, "task %s (%s, attempt %d) gave up: %s", context.id, context.name,
                context.attempt, context.reason, **about)
        else:
            say(logging.ERROR, "task %s (%s, attempt %d, run %s) failed: %s: %s", context.id,
                context.name, context.attempt, context.run_id or "none",
                error.__class__.__name__, error, error=error, **about)
        if context.reason == "lease lost":
            return None
        if context.reason == "stopping":
            return '"release":true'
        return '"error":' + describe(error)

    @staticmethod
    def _encode(value: Any) -> str:
        try:
            text = to_json(value)
            text.encode("utf-8")
            return text
        except (TypeError, ValueError, RecursionError) as error:
            raise TaskError("the result cannot be written as JSON: %s" % error,
                            type="ResultError", retryable=False)

    # ---- results ----

    def _take_batch(self) -> List[Item]:  # empty = the end
        with self._changed:
            while not self._outbox:
                if self._has_ended:
                    return []
                self._changed.wait()
            count = size = 0
            while count < min(len(self._outbox), _BATCH_MAX) and (count == 0 or size < _BATCH_BYTES):
                size += len(self._outbox[count].text)
                count += 1
            batch, self._outbox = self._outbox[:count], self._outbox[count:]
            self._in_flight = count
            self._changed.notify_all()
            return batch

    def _send_forever(self) -> None:
        while True:
            batch = self._take_batch()
            if not batch:
                return
            self._send(batch)
            with self._changed:
                self._in_flight = 0
                self._changed.notify_all()

    def _report(self, batch: List[Item], room: int) -> str:
        claim = ',"claim":' + to_json(self._ask(room)) if room > 0 else ""
        return '{"results":[%s]%s}' % (",".join(item.text for item in batch), claim)

    def _send(self, batch: List[Item]) -> None:  # [W2]
        backoff = Backoff()
        while not self._has_ended:
            with self._changed:
                room = self._room()  # the answer brings what there is to do in it
            try:
                answer = self.client.transport.call(
                    "POST", "/v1/tasks/complete", retry_for=0, text=self._report(batch, room))
            except ServerUnreachable as error:
                self._give_back(room)
                self._link.down(error)
            except ApiError as error:
                self._give_back(room)
                if error.status in _PERMANENT:
                    self._send_apart(batch, error)
                    return
                self._link.down(error)
            else:
                self._link.up()
                self._begin(answer.get("tasks", []), room)
                for item, result in zip(batch, answer["results"]):
                    self._count(item, result)
                return
            time.sleep(backoff.pause())

    def _count(self, item: Item, result: Dict[str, Any]) -> None:
        if result["status"] != "accepted":
            say(logging.WARNING, "the result of task %s was refused: %s", result["id"],
                result.get("detail", result["status"]), task_id=result["id"])
        elif item.kind == "result":
            self._done_count += 1
        elif item.kind == "error":
            self._failed_count += 1
        else:
            self._released_count += 1

    def _send_apart(self, batch: List[Item], error: ApiError) -> None:
        """One bad result must not hold up the others; alone, it becomes an error of its task."""
        if len(batch) > 1:
            for item in batch:
                self._send([item])
        elif batch[0].kind == "result":
            problem = TaskError("the server refused the result: %s" % error.detail,
                                type="ResultError", retryable=False)
            item = batch[0]
            self._send([Item({"id": item.id, "token": item.token},
                              '"error":' + describe(problem))])
        else:
            say(logging.ERROR, "the server refused what became of task %s: %s", batch[0].id, error,
                task_id=batch[0].id)

    # ---- heartbeats ----

    def _note_progress(self, token: int, text: str) -> None:
        with self._changed:
            job = self._jobs.get(token)
            if job is not None:
                job.progress = text
                job.next_heartbeat = min(job.next_heartbeat, job.last_heartbeat + _PROGRESS_EVERY)
                self._changed.notify_all()

    def _due_jobs(self) -> List[Job]:  # empty = the end
        with self._changed:
            while not self._has_ended:
                now = time.monotonic()
                next_heartbeat = min((job.next_heartbeat for job in self._jobs.values()), default=None)
                if next_heartbeat is None or next_heartbeat > now:
                    self._changed.wait(None if next_heartbeat is None else next_heartbeat - now)
                    continue
                # Those that would be due soon share the request.
                due = [job for job in self._jobs.values() if job.next_heartbeat <= now + job.interval / 2]
                return due[:_BATCH_MAX]
        return []

    def _heartbeat_forever(self) -> None:  # [W3]
        while True:
            jobs = self._due_jobs()
            if not jobs:
                return
            now = time.monotonic()
            for job in jobs:
                job.last_heartbeat = now
                job.next_heartbeat = now + job.interval
            self._heartbeat(jobs)

    def _heartbeat(self, jobs: List[Job]) -> None:
        sent = [job.progress for job in jobs]
        items = ",".join('{"id":%s,"token":%d%s}' % (
            to_json(job.context.id), job.task["token"],
            "" if text is None else ',"progress":' + text) for job, text in zip(jobs, sent))
        try:
            answers = self.client.transport.call(
                "POST", "/v1/tasks/heartbeat", retry_for=0,
                text='{"lease":"%s","tasks":[%s]}' % (in_milliseconds(self.lease), items))
        except (ApiError, ServerUnreachable) as error:
            if isinstance(error, ApiError) and error.status in _PERMANENT:
                say(logging.ERROR, "the server refuses heartbeats: %s", error)
            else:
                self._link.down(error)
            for job in jobs:
                job.next_heartbeat = time.monotonic() + job.interval / 4
            return
        self._link.up()
        with self._changed:
            for job, text, answer in zip(jobs, sent, answers["tasks"]):
                if job.progress is text:
                    job.progress = None
                if self._jobs.get(job.task["token"]) is not job:
                    continue
                if answer["status"] == "cancelled":
                    job.give_up("cancelled")
                elif answer["status"] in ("fenced", "not_found"):
                    job.give_up("lease lost")

    # ---- stopping ----

    def _wind_up(self, claimer: threading.Thread) -> None:  # [W4]
        deadline = time.monotonic() + self.grace
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
            count = len(self._jobs)
        if self._failure is None:
            say(logging.INFO, "worker %s stops: it claims no more, and waits up to %g s for the "
                "%d tasks that run", self.name, self.grace, count)
        while claimer.is_alive() and time.monotonic() < deadline:
            try:  # ends the long poll; repeated, since it may overtake the claim
                self._claim(0, 0)
            except (ApiError, ServerUnreachable):
                pass
            claimer.join(0.1)
        self._wait_until(lambda: not self._jobs, deadline)
        with self._changed:
            for job in self._jobs.values():
                job.give_up("stopping")
        self._wait_until(lambda: not self._jobs, time.monotonic() + _LAST_MOMENT)
        with self._changed:
            for job in self._jobs.values():
                say(logging.WARNING, "task %s (%s) is handed back unfinished", job.context.id,
                    job.context.name, task_id=job.context.id)
                self._outbox.append(Item(job.task, '"release":true'))
            self._jobs.clear()
            self._changed.notify_all()
        self._wait_until(lambda: not self._outbox and self._in_flight == 0,
                         max(deadline, time.monotonic() + _LAST_MOMENT))
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        for _ in range(self._pool_size):
            self._todo.put(None)

    def _wait_until(self, is_true: Callable[[], bool], deadline: float) -> None:
        with self._changed:
            while not is_true() and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())
