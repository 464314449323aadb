/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every bound of the API server client; what happens at each is said where it is used. */
#define MAX_KUBE_CALLS         8192u       /* under way, waiting or backing off; then -EBUSY */
#define MAX_KUBE_IN_FLIGHT     64u         /* below the server's 100 streams a connection */
#define MAX_KUBE_CONNECTIONS   8           /* only a server without HTTP/2 needs a second one */
#define MAX_KUBE_WRITES        64u         /* of a socket in a row; then it rests in between */
#define MAX_KUBE_ERROR_BODY    (64u << 10) /* of a stream that was answered with an error */
#define MAX_KUBE_LIST_META     (64u << 10) /* "metadata" of a list: continue token and version */
#define MAX_KUBE_PAGE_BYTES    (8u << 20)  /* a larger page makes the next one shorter */
#define MAX_KUBE_OBJECTS       262144u     /* of one reflector; further ones are left out */
#define MAX_KUBE_LOOKUPS       8192u       /* objects of one reflector that wait for such a GET */
#define MAX_KUBE_LOOKUPS_SENT  8u          /* metadata-only GETs of one reflector at a time */
#define MAX_KUBE_VERSION       256         /* bytes of a resourceVersion */
#define MAX_KUBE_TOKEN         (16u << 10) /* bearer token */
#define MAX_KUBE_PEM           (1u << 20)  /* CA bundle, certificate or key */
#define MAX_KUBECONFIG         (1u << 20)  /* kubeconfig file */
#define MAX_KUBE_URL           (16u << 10) /* path and query of a request */
#define MAX_REPORTING_INSTANCE 128u        /* of an Event's reporter, the API's own bound */
#define MAX_EVENT_NAME         253         /* bytes; the object's own name is cut for it */
#define MAX_EVENT_NOTE         1024        /* bytes, the API's own bound; a longer one is cut */
#define MAX_EVENT_PATH         1024u       /* of a request, and its body */
#define MAX_EVENT_BODY         (16u << 10)
#define EVENT_BURST            50u        /* at a time; further ones are left out */
#define EVENT_SPACE_NS         100000000u /* and one more after this time: 10 a second */
#define EVENT_SERIES_NS        UINT64_C(360000000000) /* after so long without one it is over */
#define MAX_EVENT_SERIES       1024u /* beyond it the one that was told of longest ago is forgotten */
#define KUBE_CONNECT_MS        10000u  /* name, TCP and TLS together */
#define KUBE_ATTEMPT_MS        30000u  /* a request that states no time of its own */
#define KUBE_USER_TIMEOUT_MS   20000u  /* unacknowledged bytes end a connection */
#define KUBE_KEEPALIVE_SECONDS 10      /* quiet time before a probe, and between probes */
#define KUBE_WRITE_REST_MS     10u     /* before a socket that has only been written to */
#define KUBE_SECRET_REFRESH_MS 60000u  /* token and CA files are read again at least so often */
#define KUBE_SECRET_LOOK_MS    1000u   /* and looked at (mtime, size) at most so often */
#define KUBE_RETRY_AFTER_MS    120000u /* a longer Retry-After is taken for this */
#define KUBE_BACKOFF_BASE_MS   500u
#define KUBE_BACKOFF_MAX_MS    30000u
#define KUBE_WATCH_MIN_SECONDS 300u /* timeoutSeconds of a watch, chosen at random */
#define KUBE_WATCH_MAX_SECONDS 600u
#define KUBE_OPEN_MS           30000u      /* until a list or watch is answered with a status */
#define KUBE_PAGE_SILENCE_MS   30000u      /* a list page without a further item is given up */
#define KUBE_PROGRESS_BYTES    (64u << 10) /* of one that is long in coming: progress as well */
#define KUBE_PAGE_MS           300000u     /* and a whole page after this time */
#define KUBE_WATCH_SILENCE_MS  150000u     /* bookmarks come about every 60 s */
#define KUBE_WATCH_SPACING_MS  1000u       /* between the starts of two watches */
