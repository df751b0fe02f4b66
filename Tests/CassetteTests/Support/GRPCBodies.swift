@testable import CassetteModel
import TapeBytes

/// Converts messages to gRPC bodies, and back.
enum GRPCBodies {
    static let headers = HeaderFields(["content-type: application/grpc"])

    static func frame(_ payload: [UInt8], isCompressed: Bool = false) -> [UInt8] {
        [isCompressed ? 1 : 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) } + payload
    }

    static func frame(_ fields: ProtoField...) -> [UInt8] { self.frame(ProtoMessage(fields: fields).bytes) }

    /// The payloads of a body's messages; nil if it is no gRPC body.
    static func payloads(_ body: [UInt8]) -> [[UInt8]]? {
        var payloads: [[UInt8]] = []
        var rest = body[...]
        while !rest.isEmpty {
            guard rest.count >= 5, rest[rest.startIndex] <= 1 else { return nil }
            let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(5)
            guard rest.count >= length else { return nil }
            payloads.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return payloads
    }

    /// The guessed fields of each message.
    static func messages(_ body: [UInt8]) -> [[ProtoField]]? {
        self.payloads(body).map { payloads in
            payloads.map { payload in
                var parser = ProtoParser(fields: 10_000)
                return parser.parse(payload)?.fields ?? []
            }
        }
    }
}

extension ProtoField {
    static func text(_ number: Int, _ text: String, name: String? = nil) -> ProtoField {
        ProtoField(number, name: name, .text(Array(text.utf8)))
    }

    static func message(_ number: Int, _ fields: ProtoField..., name: String? = nil) -> ProtoField {
        ProtoField(number, name: name, .message(ProtoMessage(fields: fields)))
    }
}

extension Interaction {
    /// A gRPC call with messages of fields in both directions.
    static func call(
        _ sent: [ProtoMessage], _ received: [GRPCMessage] = [], status: Int? = 0, after: Int? = nil, endAfter: Int? = nil,
        rest: [UInt8] = []
    ) -> Interaction {
        let request = GRPCMessages(messages: sent.map { GRPCMessage(content: .proto($0)) })
        let answer = GRPCMessages(messages: received, rest: rest)
        var response = RecordedResponse(
            status: 200, version: .http2, headers: GRPCBodies.headers, body: Body(size: answer.size, content: .grpc(answer)))
        response.trailers = status.map { HeaderFields(["grpc-status: \($0)"]) }
        (response.after, response.endAfter) = (after, endAfter)
        return Interaction(
            id: 1, started: Timestamp(microseconds: 1_795_262_400_000_000),
            request: RecordedRequest(
                method: "POST", url: "http://a/pets.v1.Pets/Get", version: .http2, headers: GRPCBodies.headers,
                body: Body(size: request.size, content: .grpc(request))),
            response: response)
    }
}

extension GRPCMessage {
    static func fields(_ fields: ProtoField..., after: Int? = nil) -> GRPCMessage {
        GRPCMessage(after: after, content: .proto(ProtoMessage(fields: fields)))
    }
}
