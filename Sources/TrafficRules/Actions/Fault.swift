package import CassettePlayback
package import CassetteModel
internal import TapeBytes

/// What goes wrong with an exchange.
package struct Fault: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// An answer with this status in place of the real one, which is not asked for.
        case status(Int, headers: HeaderFields)
        /// A call of gRPC ends with this status.
        case grpc(GRPCStatus, message: String)
        /// The connection is closed (FIN).
        case close
        /// A WebSocket is closed: with this code and reason, or by an empty close frame if the code is nil (RFC 6455, 5.5.1).
        case webSocketClose(code: Int?, reason: String)
        /// The connection is reset (RST). On HTTP/2, the stream ends with RST_STREAM and this code, or the connection with GOAWAY.
        case reset(code: UInt32, isOfConnection: Bool)
        /// As if the origin refused the connection.
        case refuse
        /// As if the host's name had no address.
        case dns
        /// As if the handshake of TLS failed, with this alert (RFC 8446, 6.2).
        case tls(alert: UInt8)
        /// Nothing more comes, and the connection stays open.
        case timeout
        /// Nothing comes for a time, and then the rest.
        case stall(Duration)
        /// The body ends early, and its framing says that it is whole.
        case truncate
        /// The body ends early, and its framing shows it.
        case cut
        /// Bytes that break the framing or the content coding.
        case garbage
        /// One bit of the decoded body is inverted, and the body coded again.
        case corrupt
        /// The body comes in pieces of so many bytes.
        case slice(bytes: Int, delay: Duration)
        /// An event or message comes after the one that followed it.
        case reorder
        /// An event or message comes twice.
        case `repeat`
        /// An event or message does not come.
        case drop
    }

    /// How much of the answer passes first.
    package enum After: Sendable, Hashable {
        case bytes(Int)
        /// Of the body, in thousandths.
        case share(Int)
        case events(Int)
        case messages(Int)
    }

    package enum Part: String, Sendable, Hashable, CaseIterable { case head, body, trailers }

    package var kind: Kind
    /// Nil for the beginning of the part.
    package var after: After?
    /// Nil if the rule leaves it to the kind: the body for `truncate`, `cut`, `garbage`, `corrupt` and `slice`, and otherwise before the head.
    package var part: Part?
    /// The index of the rule.
    package var rule: Int
    /// Bits drawn for this exchange, for example for the bit that `corrupt` inverts.
    package var draw: UInt64
}

/// What one rule says of a fault.
struct FaultRule: Sendable {
    /// The names of kinds in rules files.
    enum Name: String, CaseIterable, Sendable {
        case status, grpc, close, reset, refuse, dns, tls, timeout, stall, truncate, cut, garbage, corrupt, slice, reorder
        case `repeat`
        case drop
    }

    var kind: Fault.Kind
    var after: Fault.After?
    var part: Fault.Part?

    static let names =
        ["kind", "status", "retryAfter", "grpc", "message", "code", "scope", "reason", "alert", "bytes", "delay", "in"] + RuleDraw.names

    /// What HTTP/2 calls its error codes (RFC 9113, 7).
    private static let codes = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
        "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// Alerts of TLS that end a handshake (RFC 8446, 6).
    private static let alerts: [String: UInt8] = [
        "handshake_failure": 40, "bad_certificate": 42, "certificate_revoked": 44, "certificate_expired": 45, "certificate_unknown": 46,
        "unknown_ca": 48, "access_denied": 49, "protocol_version": 70, "insufficient_security": 71, "internal_error": 80,
        "unrecognized_name": 112,
    ]

    private static let stallLimit: Duration = .seconds(3600)

    /// The fault of a rule, and which requests it is for.
    static func read(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) -> (FaultRule, RuleDraw) {
        if case .text(let text) = node.content {
            let name = try self.name(text, node.line, reader)
            let empty = RuleMembers(reader: reader, what: "\"fault\"", line: node.line, list: [])
            return (FaultRule(kind: try self.kind(name, empty)), RuleDraw())
        }
        let members = try reader.members(node, of: "\"fault\"", known: self.names)
        let name = try self.name(of: members)
        try self.check(members, for: name)
        var rule = FaultRule(kind: try self.kind(name, members))
        var conditions = RuleDraw.names
        if let text = try members.text("after") {
            if Quantity.duration(text) == nil {
                rule.after = try self.after(text, members)
                conditions.removeAll { $0 == "after" }
            }
        }
        // How long it stalls, not how long the rule holds.
        if name == .stall { conditions.removeAll { $0 == "for" } }
        rule.part = try members.choice("in", Fault.Part.self)
        try rule.check(name, members)
        return (rule, try RuleDraw(members, names: conditions))
    }

    private static func name(_ text: String, _ line: Int, _ reader: RuleReader) throws(SettingSyntaxError) -> Name {
        if let name = Name(rawValue: text) { return name }
        let known = Name.allCases.map(\.rawValue)
        let near = RuleReader.nearest(to: text, in: known).map { "did you mean \"\($0)\"?" }
        throw reader.error(
            line, "there is no fault \"\(RuleReader.shown(text))\"; \(near ?? "write one of \(known.joined(separator: ", "))")")
    }

    private static func name(of members: RuleMembers) throws(SettingSyntaxError) -> Name {
        let implied: Name? = members.has("status") ? .status : members.has("grpc") ? .grpc : nil
        guard let text = try members.text("kind") else {
            if let implied { return implied }
            // Whoever is over a quota gets 429.
            if members.has("quota") { return .status }
            throw members.error(
                "\"fault\" needs \"kind\" or \"status\", for example { status: 503 } or { kind: reset }")
        }
        let name = try self.name(text, members["kind"]?.line ?? members.line, members.reader)
        if let implied, implied != name {
            throw members.error("kind", "\"fault\" has both the kind \"\(name.rawValue)\" and \"\(implied.rawValue)\": remove one of them")
        }
        return name
    }

    /// Which further members a kind has.
    private static func check(_ members: RuleMembers, for name: Name) throws(SettingSyntaxError) {
        let own: [String] =
            switch name {
            case .status: ["status", "retryAfter"]
            case .grpc: ["grpc", "message"]
            case .close: ["code", "reason"]
            case .reset: ["code", "scope"]
            case .tls: ["alert"]
            case .slice: ["bytes", "delay"]
            case .refuse, .dns, .timeout, .stall, .truncate, .cut, .garbage, .corrupt, .reorder, .repeat, .drop: []
            }
        for member in members.list where member.name != "kind" && member.name != "in" && !RuleDraw.names.contains(member.name) {
            guard own.contains(member.name) else {
                let words = own.isEmpty ? "" : ", which takes \(own.joined(separator: " and "))"
                throw members.error(
                    member.name, "\"\(member.name)\" is not for a fault of kind \"\(name.rawValue)\"\(words): remove it, or change the kind"
                )
            }
        }
    }

    private static func kind(_ name: Name, _ members: RuleMembers) throws(SettingSyntaxError) -> Fault.Kind {
        switch name {
        case .status:
            guard let status = try members.integer("status", 100...599) ?? (members.has("quota") ? 429 : nil) else {
                throw members.error("a fault of kind \"status\" needs \"status\", for example { status: 503 }")
            }
            guard status >= 200 else {
                throw members.error("status", "\"status\" is \(status), which is not a final answer; write one from 200 to 599")
            }
            var headers = HeaderFields()
            if let wait = try members.duration("retryAfter") {
                // RFC 9110, 10.2.3: whole seconds.
                headers.append(name: "Retry-After", value: "\(Int(Quantity.seconds(wait).rounded(.up)))")
            }
            return .status(status, headers: headers)
        case .grpc:
            guard let text = try members.text("grpc") else {
                throw members.error("a fault of kind \"grpc\" needs \"grpc\", for example { grpc: UNAVAILABLE }")
            }
            guard let status = GRPCStatus(text), status.code <= 16 else {
                throw members.error("grpc", "gRPC has no status \"\(RuleReader.shown(text))\"; write one of \(GRPCStatus.known)")
            }
            return .grpc(status, message: try members.text("message") ?? "")
        case .close:
            guard members.has("code") || members.has("reason") else { return .close }
            let reason = try members.text("reason") ?? ""
            guard reason.utf8.count <= 123 else {
                throw members.error("reason", "\"reason\" is longer than 123 bytes, which a close frame holds (RFC 6455, 5.5); shorten it")
            }
            if try members.text("code") == "none" {
                guard reason.isEmpty else {
                    throw members.error("reason", "a close frame without a code has no reason; remove one of them")
                }
                return .webSocketClose(code: nil, reason: "")
            }
            // RFC 6455, 7.4: lower codes are not used, and higher ones not defined.
            guard let code = try members.integer("code", 1000...4999) else {
                throw members.error("reason", "\"reason\" needs \"code\", for example code: 1011")
            }
            guard ![1004, 1005, 1006, 1015].contains(code) else {
                throw members.error(
                    "code", "\(code) is never sent in a close frame (RFC 6455, 7.4.1); write another code, for example 1011")
            }
            return .webSocketClose(code: code, reason: reason)
        case .reset: return try self.reset(members)
        case .refuse: return .refuse
        case .dns: return .dns
        case .tls:
            guard let text = try members.text("alert") else { return .tls(alert: 40) }
            guard let alert = self.alerts[text] ?? UInt8(text) else {
                throw members.error(
                    "alert",
                    "TLS has no alert \"\(RuleReader.shown(text))\"; write its number, or one of \(self.alerts.keys.sorted().joined(separator: ", "))"
                )
            }
            return .tls(alert: alert)
        case .timeout: return .timeout
        case .stall:
            guard let time = try members.duration("for", atMost: self.stallLimit) else {
                throw members.error("a fault of kind \"stall\" needs \"for\", for example for: 20s; without an end it is \"timeout\"")
            }
            return .stall(time)
        case .truncate: return .truncate
        case .cut: return .cut
        case .garbage: return .garbage
        case .corrupt: return .corrupt
        case .slice:
            let bytes = try members.text("bytes") ?? "1B"
            guard let size = Quantity.bytes(bytes) ?? Int(bytes), (1...1 << 20).contains(size) else {
                throw members.error("bytes", "\"bytes\" is \"\(RuleReader.shown(bytes))\"; write a size from 1B to 1MiB")
            }
            return .slice(bytes: size, delay: try members.duration("delay", atMost: self.stallLimit) ?? .zero)
        case .reorder: return .reorder
        case .repeat: return .repeat
        case .drop: return .drop
        }
    }

    private static func reset(_ members: RuleMembers) throws(SettingSyntaxError) -> Fault.Kind {
        enum Scope: String, CaseIterable { case stream, connection }
        var code: UInt32 = 8
        if let text = try members.text("code") {
            guard let number = self.codes.firstIndex(of: text.uppercased()).map(UInt32.init) ?? UInt32(text) else {
                throw members.error(
                    "code",
                    "HTTP/2 has no error code \"\(RuleReader.shown(text))\"; write its number, or one of \(self.codes.joined(separator: ", "))"
                )
            }
            code = number
        }
        return .reset(code: code, isOfConnection: try members.choice("scope", Scope.self) == .connection)
    }

    /// `64KiB`, `50%`, `3 events`, `2 messages`
    private static func after(_ text: String, _ members: RuleMembers) throws(SettingSyntaxError) -> Fault.After {
        let words = text.split(separator: " ")
        if words.count == 2, let count = Int(words[0]), (0...1_000_000).contains(count), words[0].utf8.allSatisfy({ 48...57 ~= $0 }) {
            switch words[1] {
            case "event", "events": return .events(count)
            case "message", "messages": return .messages(count)
            default: break
            }
        }
        if let bytes = Quantity.bytes(text) { return .bytes(bytes) }
        if text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent), text.utf8.count <= 6 {
            return .share(Int((percent * 10).rounded()))
        }
        throw members.error(
            "after",
            "\"after\" is \"\(RuleReader.shown(text))\"; write where the fault comes, for example 64KiB, 50%, 3 events or 2 messages, or a time since the run began, for example 30s"
        )
    }

    /// Whether the place fits the kind.
    private func check(_ name: Name, _ members: RuleMembers) throws(SettingSyntaxError) {
        switch name {
        case .status, .grpc, .refuse, .dns, .tls:
            guard self.after == nil, self.part == nil else {
                throw members.error(
                    self.after == nil ? "in" : "after",
                    "a fault of kind \"\(name.rawValue)\" comes in place of the answer, so it has no place in it: remove \"after\" and \"in\", or use \"reset\", \"cut\" or \"stall\""
                )
            }
        case .reorder, .repeat, .drop:
            switch self.after {
            case .events, .messages, nil: break
            case .bytes, .share:
                throw members.error(
                    "after", "a fault of kind \"\(name.rawValue)\" is for events and messages; write for example after: 3 events")
            }
            guard self.part == nil || self.part == .body else {
                throw members.error("in", "a fault of kind \"\(name.rawValue)\" is in the body: remove \"in\"")
            }
        case .truncate, .cut:
            guard self.part != .head else {
                throw members.error("in", "a fault of kind \"\(name.rawValue)\" is in the body: remove \"in\", or use \"close\"")
            }
        case .corrupt, .slice:
            guard self.part == nil || self.part == .body else {
                throw members.error("in", "a fault of kind \"\(name.rawValue)\" is in the body: remove \"in\"")
            }
            guard name == .slice || self.after == nil else {
                throw members.error(
                    "after",
                    "\"corrupt\" inverts one bit, which is drawn from the whole decoded body: remove \"after\", or use \"garbage\", which has a place"
                )
            }
        case .close:
            // A close frame comes between messages, and after as many of them as the rule says.
            guard case .webSocketClose = self.kind else { break }
            switch self.after {
            case .messages, nil: break
            case .bytes, .events, .share:
                throw members.error("after", "a close frame comes between messages: write for example after: 3 messages")
            }
            guard self.part == nil else {
                throw members.error("in", "a close frame is in no part of an answer: remove \"in\"")
            }
        case .reset, .timeout, .stall, .garbage: break
        }
        if self.part == .head || self.part == .trailers, self.after != nil {
            throw members.error(
                "after", "\"after\" counts in the body, so it does not go with \"in: \(self.part?.rawValue ?? "")\": remove one of them")
        }
    }
}
