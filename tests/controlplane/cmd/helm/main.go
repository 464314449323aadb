// SPDX-License-Identifier: Apache-2.0

// helm, the newest that is made for the Kubernetes release beside it.
package main

import (
	"errors"
	"fmt"
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
)

func main() {
	os.Exit(run())
}

func run() int {
	// The field manager of server-side apply is named for the program, whatever its file is called.
	kube.ManagedFieldsManager = "helm"

	root, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		return 1
	}
	err = root.Execute()
	var withCode helm.CommandError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &withCode):
		return withCode.ExitCode
	default:
		return 1
	}
}
