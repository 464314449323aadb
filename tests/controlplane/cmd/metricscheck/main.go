// SPDX-License-Identifier: Apache-2.0

// metricscheck reads what a program serves at /metrics from standard input, as Prometheus would,
// and prints as JSON what is there: an array of families with name, type, help, and for each label
// the values that occur. What Prometheus' own rules for metrics have against it goes to standard
// error, a line each, and makes the exit status 1; text that can't be parsed makes it 2.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

type family struct {
	Name   string              `json:"name"`
	Type   string              `json:"type"`
	Help   string              `json:"help"`
	Labels map[string][]string `json:"labels"`
	// How many observations or what value the family has, over all its series.
	Total float64 `json:"total"`
}

func describe(metrics *dto.MetricFamily) family {
	found := family{
		Name:   metrics.GetName(),
		Type:   strings.ToLower(metrics.GetType().String()),
		Help:   metrics.GetHelp(),
		Labels: map[string][]string{},
	}
	for _, metric := range metrics.GetMetric() {
		for _, label := range metric.GetLabel() {
			found.Labels[label.GetName()] = append(found.Labels[label.GetName()], label.GetValue())
		}
		found.Total += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
			float64(metric.GetHistogram().GetSampleCount())
	}
	return found
}

func run(input io.Reader, output io.Writer) int {
	text, err := io.ReadAll(input)
	if err != nil {
		fmt.Fprintf(os.Stderr, "metricscheck: %v\n", err)
		return 2
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		fmt.Fprintf(os.Stderr, "metricscheck: %v\n", err)
		return 2
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		fmt.Fprintf(os.Stderr, "metricscheck: %v\n", err)
		return 2
	}
	found := []family{}
	for _, metrics := range families {
		found = append(found, describe(metrics))
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Name < found[j].Name })
	if err := json.NewEncoder(output).Encode(found); err != nil {
		fmt.Fprintf(os.Stderr, "metricscheck: %v\n", err)
		return 2
	}
	for _, problem := range problems {
		fmt.Fprintf(os.Stderr, "%s: %s\n", problem.Metric, problem.Text)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

func main() {
	os.Exit(run(os.Stdin, os.Stdout))
}
