package engine

import "specula/tokenizer/chat"

// Message is one turn of a conversation.
type Message = chat.Message
