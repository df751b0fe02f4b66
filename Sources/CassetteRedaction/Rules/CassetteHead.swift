public import CassetteModel
public import TapeBytes

/// Everything before the interactions of a cassette, including the `[`, for reading or setting one of its members.
///
/// All other bytes are preserved.
public struct CassetteHead: Sendable, Hashable {
    /// The member with the redaction rules.
    public static let redactionMember = "redaction"

    public private(set) var bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether the head is complete; a torn one has no members.
    private var isWhole: Bool { self.bytes.last == UInt8(ascii: "[") }

    private func document() throws(CassetteError) -> JSONValue {
        do {
            return try JSONDocument(self.bytes + [UInt8(ascii: "]"), UInt8(ascii: "}")]).root
        } catch {
            throw CassetteError(
                .damaged, "the cassette's line \(error.line): \(error.reason): correct it or restore the file.", cause: error)
        }
    }

    /// The redaction rules that the cassette was recorded with; nil if nothing was redacted.
    public func redactionRules() throws(CassetteError) -> RedactionRules? {
        guard self.isWhole, let value = try self.document()[Self.redactionMember], value.kind != .null else { return nil }
        do {
            return try RedactionRules(value)
        } catch {
            throw CassetteError(.damaged, "the cassette's \"\(Self.redactionMember)\": \(error.message)", cause: error)
        }
    }

    /// Nil if the head has no such member, or is torn.
    public func member(_ name: String) throws(CassetteError) -> UnknownMember? {
        guard self.isWhole, let value = try self.document()[name] else { return nil }
        return UnknownMember(name: name, json: Array(value.raw))
    }

    /// Removes secrets from the parts of an imported archive that are outside of its entries. Returns how many were replaced.
    public mutating func redactArchive(_ redactor: Redactor) throws(CassetteError) -> Int {
        guard var member = try self.member(UnknownMember.archiveName) else { return 0 }
        let count = redactor.redact(&member)
        if count > 0 { try self.set(member) }
        return count
    }

    /// The rules as a member of a new cassette's head.
    public static func member(_ rules: RedactionRules) -> UnknownMember {
        var writer = JSONWriter()
        rules.write(into: &writer)
        return UnknownMember(name: self.redactionMember, json: writer.bytes)
    }

    /// Adds or replaces a member; a new one is placed right before the interactions.
    public mutating func set(_ member: UnknownMember) throws(CassetteError) {
        guard self.isWhole else {
            throw CassetteError(.damaged, "the beginning of the cassette is damaged, so its redaction rules are lost: record it again")
        }
        let root = try self.document()
        if let old = root[member.name] {
            self.bytes.replaceSubrange(old.range, with: member.json)
            return
        }
        for (name, _) in root.members where name.string == "interactions" {
            let text = Array("\"\(member.name)\": ".utf8) + member.json + Array(",\n  ".utf8)
            self.bytes.insert(contentsOf: text, at: name.range.lowerBound)
            return
        }
    }
}
