internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The members of a cassette's document that stand beside its interactions: rules for matching, say.
enum CassetteHeadMembers {
    /// What the writer of a new cassette gives anew.
    private static let own: Set<String> = ["wiretape", "recorder", "interactions"]

    /// Those in front of the interactions and those behind them, each with its text.
    static func read(_ reader: CassetteReader) throws(CassetteError) -> [UnknownMember] {
        let tail = try reader.tail()
        let text = try reader.head() + (tail.isEmpty ? Array("]}".utf8) : tail)
        do {
            let document = try JSONDocument(text)
            return document.root.members.compactMap { member in
                guard let name = member.name.string, !self.own.contains(name) else { return nil }
                return UnknownMember(name: name, json: Array(member.value.raw))
            }
        } catch {
            throw CassetteError(.damaged, "\"\(reader.path)\" does not begin as a cassette does (\(error.reason)): restore it from a copy.")
        }
    }

    /// The members of all, each once. Two that differ cannot both hold for one cassette.
    static func merged(_ readers: [CassetteReader]) throws(CassetteError) -> [UnknownMember] {
        var members: [(member: UnknownMember, path: String)] = []
        var unredacted: [String] = []
        for reader in readers {
            let own = try self.read(reader)
            if !own.contains(where: { $0.name == CassetteHead.redactionMember }) { unredacted.append(reader.path) }
            for member in own {
                guard let known = members.first(where: { $0.member.name == member.name }) else {
                    members.append((member, reader.path))
                    continue
                }
                guard self.areEqual(known.member.json, member.json) else {
                    throw CassetteError(
                        .damaged,
                        "\"\(known.path)\" and \"\(reader.path)\" have different \"\(member.name)\", and a merged cassette has one: \(self.advice(member))"
                    )
                }
            }
        }
        // Live requests would be compared without their secrets, and what was recorded with them would answer none.
        if let redacted = members.first(where: { $0.member.name == CassetteHead.redactionMember }), let path = unredacted.first {
            throw CassetteError(
                .damaged, "\"\(redacted.path)\" was recorded with redaction and \"\(path)\" without: run \"wiretape redact \(path)\" first."
            )
        }
        return members.map(\.member)
    }

    private static func advice(_ member: UnknownMember) -> String {
        member.name == CassetteHead.redactionMember
            ? "give both the same rules with \"wiretape redact FILE --redact RULE\"." : "make them equal, or remove one."
    }

    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let one = try? JSONDocument(one), let other = try? JSONDocument(other) else { return one == other }
        return JSONComparison(one.root, other.root).changes.isEmpty
    }
}
