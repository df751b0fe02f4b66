internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import LocalHTTP
internal import TapeBytes

/// Exchanges that were chosen together in the list, to be commented or deleted in the cassette.
struct ChosenExchanges {
    /// The name of the member with a comment.
    static let comment = "comment"
    /// The longest comment, in bytes.
    private static let longest = 8192

    let cassette: InspectedCassette
    let moment: InspectedCassette.Moment
    let keys: [Int]

    /// Writes a comment into each of the exchanges; an empty one removes theirs.
    func comment(_ text: String) throws {
        guard text.utf8.count <= Self.longest else { throw InspectorService.bad("text", "a comment has at most \(Self.longest) bytes") }
        try self.rewrite { rewriter, chosen in
            try rewriter.rewrite(order: Array(0..<rewriter.reader.count)) { place, bytes in
                guard chosen.contains(place) else { return nil }
                let commented = try Self.commented(bytes, text)
                // What was written must still be an exchange.
                _ = try InteractionDecoder.decode(commented, at: .textAlone)
                return commented
            }
        }
    }

    /// Removes the exchanges, and the files that only they refer to.
    func delete() throws {
        try self.rewrite { rewriter, chosen in
            try rewriter.rewrite(order: (0..<rewriter.reader.count).filter { !chosen.contains($0) })
            // If a cassette next to this one cannot be read, it is unknown which files are unused. They are kept.
            if let references = try? CassetteReferences(familyOf: self.cassette.path) {
                _ = try references.tidy(BodyStore(cassettePath: self.cassette.path))
            }
        }
    }

    private func rewrite(_ work: (CassetteRewriter, Set<Int>) throws -> Void) throws {
        guard !self.keys.isEmpty else { throw InspectorService.bad("keys", "\"keys\" names no exchange") }
        guard self.moment.epoch.damage == nil else {
            throw CassetteError(
                .damaged,
                "\"\(self.cassette.path)\" is torn: \"wiretape decode\" repairs it, and keeps the removed part in a file next to it.")
        }
        let rewriter = try CassetteAppender.open(self.cassette.path, recorder: "wiretape \(Version.current)").finish()
        // Nothing may be written that the page has not shown.
        let chosen = Set(self.keys.map { $0 - 1 })
        for ordinal in chosen {
            guard self.moment.epoch.isCurrent(at: self.cassette.path), ordinal < rewriter.reader.count,
                try rewriter.reader.bytes(at: ordinal) == self.moment.epoch.bytes(self.moment.epoch.ranges[ordinal])
            else { throw InspectorService.stale }
        }
        try work(rewriter, chosen)
        // Keep its lock: a recorder that starts before the files are removed could lose what it has just written.
        withExtendedLifetime(rewriter) {}
        while self.cassette.refresh(), !self.cassette.moment.epoch.isCurrent(at: self.cassette.path) {}
    }

    /// An exchange's text with a comment as its last member. Everything else stays as it is.
    static func commented(_ text: [UInt8], _ comment: String) throws -> [UInt8] {
        let members = Array(try JSONDocument(text).root.members)
        var writer = JSONWriter()
        writer.string(comment)
        guard let place = members.firstIndex(where: { $0.name.string == self.comment }) else {
            guard !comment.isEmpty, let first = members.first, let last = members.last else { return text }
            // The white space before the first name, so that the new line looks like the others.
            let space = text[..<first.name.range.lowerBound].reversed().prefix { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }.reversed()
            var new = Array(text[..<last.value.range.upperBound])
            new.append(UInt8(ascii: ","))
            new += space.isEmpty ? [32] : Array(space)
            new += Array("\"\(self.comment)\": ".utf8)
            new += writer.bytes
            new += text[last.value.range.upperBound...]
            return new
        }
        let value = members[place].value.range
        guard comment.isEmpty else {
            var new = text
            new.replaceSubrange(value, with: writer.bytes)
            return new
        }
        let name = members[place].name.range
        let start = place > 0 ? members[place - 1].value.range.upperBound : name.lowerBound
        let end = place > 0 || members.count == 1 ? value.upperBound : members[1].name.range.lowerBound
        var new = text
        new.removeSubrange(start..<end)
        return new
    }
}
