public import CassetteModel

/// An extension that a client offers or a server accepts, with its parameters in order (RFC 6455, 9.1).
public struct WebSocketExtension: Sendable, Hashable {
    public struct Parameter: Sendable, Hashable {
        /// In lower case.
        public var name: String
        public var value: String?

        public init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    /// In lower case.
    public var name: String
    public var parameters: [Parameter]

    public init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// All Sec-WebSocket-Extensions fields of a message, in order; nil if one does not follow the grammar.
    public static func list(in fields: HeaderFields) -> [WebSocketExtension]? {
        var list: [WebSocketExtension] = []
        for index in 0..<fields.count where fields.isNamed("sec-websocket-extensions", at: index) {
            var reader = Reader(rest: fields.valueBytes(at: index))
            guard let some = reader.list() else { return nil }
            list += some
        }
        return list
    }

    /// The extension as written in a field.
    public var text: String {
        self.parameters.reduce(self.name) { text, parameter in
            "\(text); \(parameter.name)" + (parameter.value.map { "=\($0)" } ?? "")
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func list() -> [WebSocketExtension]? {
            var list: [WebSocketExtension] = []
            repeat {
                // RFC 9110, 5.6.1: empty elements are skipped.
                guard !self.isAt(UInt8(ascii: ",")), !self.rest.isEmpty else { continue }
                guard let name = self.token() else { return nil }
                var one = WebSocketExtension(name)
                while self.take(UInt8(ascii: ";")) {
                    guard let parameter = self.parameter() else { return nil }
                    one.parameters.append(parameter)
                }
                list.append(one)
            } while self.take(UInt8(ascii: ","))
            return self.rest.isEmpty ? list : nil
        }

        private mutating func parameter() -> Parameter? {
            guard let name = self.token() else { return nil }
            guard self.take(UInt8(ascii: "=")) else { return Parameter(name) }
            guard self.isAt(UInt8(ascii: "\"")) else { return self.token(lowering: false).map { Parameter(name, $0) } }
            return self.quoted().map { Parameter(name, $0) }
        }

        private mutating func skipSpace() {
            while let first = self.rest.first, first == ASCII.space || first == ASCII.tab { self.rest.removeFirst() }
        }

        private mutating func isAt(_ byte: UInt8) -> Bool {
            self.skipSpace()
            return self.rest.first == byte
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard self.isAt(byte) else { return false }
            self.rest.removeFirst()
            self.skipSpace()
            return true
        }

        private mutating func token(lowering: Bool = true) -> String? {
            self.skipSpace()
            let token = self.rest.prefix(while: ASCII.isToken)
            guard !token.isEmpty else { return nil }
            self.rest = self.rest[token.endIndex...]
            return String(decoding: lowering ? token.map(ASCII.lower) : Array(token), as: UTF8.self)
        }

        /// RFC 6455, 9.1: the quoted text has to be a token too.
        private mutating func quoted() -> String? {
            self.rest.removeFirst()
            var value: [UInt8] = []
            while let byte = self.rest.popFirst() {
                if byte == UInt8(ascii: "\"") {
                    return !value.isEmpty && value.allSatisfy(ASCII.isToken) ? String(decoding: value, as: UTF8.self) : nil
                }
                guard byte == UInt8(ascii: "\\") else {
                    value.append(byte)
                    continue
                }
                guard let escaped = self.rest.popFirst() else { return nil }
                value.append(escaped)
            }
            return nil
        }
    }
}
