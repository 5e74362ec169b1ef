// RemoteListener: hearing of what other nodes write, on a connection and a thread of its own.
//
// A batch that concerns others (work to be claimed, runs that ended) makes the server tell those
// who listen, after its commit.
//
//   [listen-1] Nothing depends on it: a node that heard nothing looks around when it renews its
//        lease.
//   [listen-2] After each connection the owner is called once, because something may have been
//        missed.
//   [listen-3] What our own writer sent is no news.
//   [listen-4] A lost connection is made again, with pauses that grow.
//   [listen-5] Once it is stopped nothing is called any more.
#pragma once
#include "store/store.h"
#include <pthread.h>

typedef struct RemoteListener RemoteListener;

typedef struct RemoteListenerOps { // all on the listener's thread but the last
    MUST_CHECK Status (*connect)(RemoteListener *listener); // and subscribes
    int (*file)(const RemoteListener *listener); // to be waited for; -1 = the connection is lost
    // Takes what has arrived; true = some of it is news. [listen-3] Called when there is something.
    bool (*take)(RemoteListener *listener);
    void (*close)(RemoteListener *listener); // frees it
} RemoteListenerOps;

struct RemoteListener { // first member of every implementation
    const RemoteListenerOps *ops;
    StoreListener listener;
    pthread_t thread;
    int stop_pipe[2]; // closing the writing end ends the thread
};

// Takes it over. NULL when there is no thread to be had: it is closed then. [listen-1]
RemoteListener *remote_listener_start(RemoteListener *listener, const StoreListener *owner);
void remote_listener_stop(RemoteListener *listener); // NULL is fine [listen-5]
