internal import CassetteModel

/// Finds the name of a GraphQL document's operation, where it has one operation and that has a name (GraphQL, October 2021, 2.2 and 2.3).
///
/// Reads words, strings, comments and brackets, and proves nothing about the rest.
struct GraphQLOperationName {
    private let query: [UInt8]
    private var offset = 0

    /// Nil with several operations, with none, and with one that has no name.
    static func only(in query: [UInt8]) -> [UInt8]? {
        var reader = GraphQLOperationName(query: query)
        return reader.read()
    }

    private init(query: [UInt8]) {
        self.query = query
    }

    private mutating func read() -> [UInt8]? {
        var depth = 0
        var operations = 0
        var name: [UInt8]?
        // Between the beginning of a definition and its selection set.
        var isInDefinition = false
        while let octet = self.skip() {
            switch octet {
            case UInt8(ascii: "{"):
                if depth == 0 {
                    if !isInDefinition { operations += 1 }
                    isInDefinition = false
                }
                depth += 1
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case _ where Self.isNamePart(octet):
                let word = self.word()
                guard depth == 0, !isInDefinition else { continue }
                isInDefinition = true
                guard ["query", "mutation", "subscription"].contains(word) else { continue }
                operations += 1
                if let next = self.skip(), Self.isNamePart(next) { name = Array(self.word().utf8) }
                continue
            case _: break
            }
            self.offset += 1
        }
        return operations == 1 ? name : nil
    }

    /// Passes over strings, comments and what separates words; the octet behind them.
    private mutating func skip() -> UInt8? {
        while self.offset < self.query.count {
            switch self.query[self.offset] {
            case UInt8(ascii: "#"):
                while self.offset < self.query.count, self.query[self.offset] != 10, self.query[self.offset] != 13 { self.offset += 1 }
            case UInt8(ascii: "\""): self.skipString()
            case 0...32, UInt8(ascii: ","): self.offset += 1
            case let octet: return octet
            }
        }
        return nil
    }

    /// A string ends at its quote, a block string at three of them (2.9.4).
    private mutating func skipString() {
        let isBlock = self.stands("\"\"\"")
        self.offset += isBlock ? 3 : 1
        while self.offset < self.query.count {
            if isBlock {
                if self.stands("\"\"\"") {
                    self.offset += 3
                    return
                }
                self.offset += self.stands("\\\"\"\"") ? 4 : 1
            } else {
                if self.query[self.offset] == UInt8(ascii: "\"") {
                    self.offset += 1
                    return
                }
                self.offset += self.query[self.offset] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
    }

    private func stands(_ text: StaticString) -> Bool {
        self.query.count - self.offset >= text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { self.query[self.offset + $0] == text.utf8Start[$0] }
    }

    private mutating func word() -> String {
        let start = self.offset
        while self.offset < self.query.count, Self.isNamePart(self.query[self.offset]) { self.offset += 1 }
        return String(decoding: self.query[start..<self.offset], as: UTF8.self)
    }

    private static func isNamePart(_ octet: UInt8) -> Bool { FormSpelling.isAlphanumeric(octet) || octet == UInt8(ascii: "_") }
}
