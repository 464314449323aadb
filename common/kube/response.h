/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/client.h"

/* Fills reason and error of a response whose status and body are set and that is no success: from
 * the Status object in the body, else from its first line (Kubernetes API conventions, "Response
 * Status Kind"). */
void response_explain(struct kube_response *response);
