package chats_test

import (
	"fmt"
	"os"
	"time"

	"specula/ui/chats"
)

func ExampleStore() {
	dir, err := os.MkdirTemp("", "chats")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := chats.NewStore(dir)
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id := chats.NewID(began, 1)
	saved, err := store.Save(chats.Chat{ID: id, Created: began, Turns: []chats.Turn{{Role: "user", Text: "Hello"}}})
	fmt.Println(saved.ID, err)
	chat, err := store.Open(id)
	fmt.Println(chat.Turns[0].Text, err)
	// Output:
	// 20261121-120000-00000001 <nil>
	// Hello <nil>
}
