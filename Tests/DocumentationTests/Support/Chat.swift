import Foundation
import Wiretape

// snippet: llm-client
/// A model that answers in a stream, and may ask for a tool first.
final class Chat: Sendable {
    nonisolated struct Message: Codable, Sendable {
        var role: String
        var content: String
    }

    nonisolated struct Request: Encodable, Sendable {
        var model = "small"
        var messages: [Message]
        var stream = true
    }

    /// The stream ended without its mark: the words so far are not the answer.
    struct Cut: Error {}

    private struct Piece: Decodable {
        struct Choice: Decodable { var delta: Delta }
        struct Delta: Decodable {
            var content: String?
            var tool_calls: [Call]?
        }
        struct Call: Decodable { var function: Function }
        struct Function: Decodable {
            var name: String?
            var arguments: String?
        }
        var choices: [Choice]
    }

    private let session: HTTPSession

    init(session: HTTPSession) { self.session = session }

    /// Asks, runs the tools that the model calls, and returns its words.
    func ask(_ question: String, tools: [String: @Sendable (String) -> String] = [:]) async throws -> String {
        var messages = [Message(role: "user", content: question)]
        while true {
            let turn = try await self.turn(messages)
            guard let tool = tools[turn.tool] else { return turn.words }
            messages.append(Message(role: "assistant", content: turn.arguments))
            messages.append(Message(role: "tool", content: tool(turn.arguments)))
        }
    }

    private func turn(_ messages: [Message]) async throws -> (words: String, tool: String, arguments: String) {
        let stream = self.session.stream(
            "https://llm.test/v1/chat/completions", method: .post,
            parameters: Request(messages: messages), encoder: .json
        ).validate()
        var (words, tool, arguments) = ("", "", "")
        for try await event in stream.events {
            if event.data == "[DONE]" { return (words, tool, arguments) }
            let piece = try JSONDecoder().decode(Piece.self, from: Data(event.data.utf8))
            let delta = piece.choices.first?.delta
            words += delta?.content ?? ""
            for call in delta?.tool_calls ?? [] {
                tool += call.function.name ?? ""
                arguments += call.function.arguments ?? ""
            }
        }
        throw Cut()
    }
}
// snippet end
