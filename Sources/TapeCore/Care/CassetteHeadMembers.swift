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
        for reader in readers {
            for member in try self.read(reader) {
                guard let known = members.first(where: { $0.member.name == member.name }) else {
                    members.append((member, reader.path))
                    continue
                }
                guard self.areEqual(known.member.json, member.json) else {
                    throw CassetteError(
                        .damaged,
                        "\"\(known.path)\" and \"\(reader.path)\" have different \"\(member.name)\", and a merged cassette has one: make them equal, or remove one."
                    )
                }
            }
        }
        return members.map(\.member)
    }

    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let one = try? JSONDocument(one), let other = try? JSONDocument(other) else { return one == other }
        return JSONComparison(one.root, other.root).changes.isEmpty
    }
}
