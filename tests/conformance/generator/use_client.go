// Uses the client that openapi-generator makes for Go: a token, a push, an entry, a read.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	openapi "mudra"
)

type given struct {
	Root, EntityID, Secret string
	Push                   openapi.RequestMetrics
	Entry                  openapi.Submission
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	var asked given
	must(json.NewDecoder(os.Stdin).Decode(&asked))
	settings := openapi.NewConfiguration()
	settings.Servers = openapi.ServerConfigurations{{URL: asked.Root}}
	client, anyone := openapi.NewAPIClient(settings), context.Background()

	_, refused, err := client.RegistryAPI.ListEntries(anyone, "AA").Execute()
	if err == nil {
		log.Fatal("it read without a token")
	}
	token, _, err := client.TokensAPI.GenerateEntityAccessToken(anyone).Id(asked.EntityID).Secret(asked.Secret).Execute()
	must(err)
	known := context.WithValue(anyone, openapi.ContextAccessToken, token.GetAccessToken())
	window := openapi.RequestMetricsAsPushMetricsRequest(&asked.Push)
	pushed, _, err := client.NetworkMetricsAPI.PushMetrics(known).PushMetricsRequest(window).Execute()
	must(err)
	registered, _, err := client.RegistryAPI.SubmitEntry(known, "AA").Submission(asked.Entry).Execute()
	must(err)
	read, _, err := client.RegistryAPI.ListEntries(known, "AA").Execute()
	must(err)
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"expiresIn":  token.GetExpiresIn(),
		"pushed":     pushed.GetStatus(),
		"read":       len(read),
		"refused":    refused.StatusCode,
		"registered": registered.GetStatus(),
	}))
}
