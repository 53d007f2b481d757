package demo

import _ "embed"

//go:embed tour.txt
var tour string

// TourName is the name of the tour in messages.
const TourName = "the tour"

// Tour returns the script that is built in: a tour of about five minutes.
func Tour() *Script {
	s, err := Parse(TourName, tour)
	if err != nil {
		panic("demo: " + err.Error()) // cannot happen: a test plays the script
	}
	return s
}
