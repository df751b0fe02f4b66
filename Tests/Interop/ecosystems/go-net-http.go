// Prints the body of a URL by net/http, with no settings of its own.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		log.Fatal(answer.Status)
	}
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
}
