/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define OUTPUT_AUDIENCE "sandboxrun.dev"

enum output_audience {
    OUTPUT_AUDIENCE_UNKNOWN, /* the token says nothing that can be read */
    OUTPUT_AUDIENCE_OURS,    /* and no other */
    OUTPUT_AUDIENCE_OTHER,
    OUTPUT_AUDIENCE_SHARED, /* ours among others */
};

/*
 * For whom a token says that it is (the "aud" claim of a JSON Web Token, RFC 7519). Nothing of it
 * is verified: this only turns away early what must not be here, such as a token that is valid at
 * the API server, before it is handed on or kept. It lets nobody in.
 */
enum output_audience output_audience(const char *token);
