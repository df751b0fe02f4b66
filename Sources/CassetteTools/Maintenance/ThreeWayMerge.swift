internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Merges two versions of a cassette that have a common ancestor, as version control does.
///
/// An exchange that only one side added, changed or removed is taken from that side; one that both sides have stands once. The result is in
/// order of start, and does not depend on which side is called which. Bodies in files are named by their digests, and stay where they are.
package struct ThreeWayMerge {
    /// The member that marks what both sides changed.
    package static let noteMember = "conflict"

    package struct Outcome: Sendable, Hashable {
        /// The merged cassette.
        package var text: [UInt8]
        package var exchanges = 0
        /// What both sides changed, for people; each is in the text twice, with a note.
        package var conflicts: [String] = []
    }

    private struct Version {
        /// Of the format.
        var number = 1
        var members: [UnknownMember]
        var recorder: String
        var exchanges: [Exchange]
    }

    private struct Exchange {
        var text: [UInt8]
        var interaction: Interaction
        /// Everything but the numbers that depend on the cassette.
        var content: [UInt8]
    }

    /// An exchange of the result, and where it comes from.
    private struct Merged {
        var exchange: Exchange
        /// The id in the ancestor; nil if it is new.
        var ancestor: Int?
        /// 0 or 1 for an exchange that only one side has.
        var side: Int?
        var note: String?
    }

    /// - Parameters:
    ///   - base: the common ancestor; nil if both sides created the cassette.
    /// - Throws: `CassetteError` if one of them is not a whole cassette.
    package static func merge(base: String?, ours: String, theirs: String) throws(CassetteError) -> Outcome {
        let sides = [try self.read(ours), try self.read(theirs)]
        let base = try base.map { (path) throws(CassetteError) in try self.read(path) } ?? Version(members: [], recorder: "", exchanges: [])
        var outcome = Outcome(text: [])
        let members = self.members(base, sides, &outcome)
        let exchanges = self.exchanges(base, sides, &outcome)
        outcome.exchanges = exchanges.count
        outcome.text = self.document(
            members, version: max(sides[0].number, sides[1].number), recorder: max(sides[0].recorder, sides[1].recorder), exchanges)
        return outcome
    }

    // MARK: Reading

    private static func read(_ path: String) throws(CassetteError) -> Version {
        let reader = try CassetteReader(path: path)
        if let damage = reader.damage { throw CassetteError(.damaged, "\(damage.summary): repair it with \"wiretape decode\" first.") }
        var exchanges: [Exchange] = []
        for position in 0..<reader.count {
            let text = try reader.bytes(at: position)
            let interaction = try reader.interaction(at: position)
            var plain = interaction
            plain.id = 0
            plain.connection?.id = 0
            exchanges.append(Exchange(text: text, interaction: interaction, content: self.encoded(plain)))
        }
        let head = (try? JSONDocument(try reader.head() + Array("]}".utf8)))?.root
        return Version(
            number: head?["wiretape"]?.int ?? 2, members: try CassetteHeadMembers.read(reader), recorder: head?["recorder"]?.string ?? "",
            exchanges: exchanges)
    }

    private static func encoded(_ interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        // The encoder begins with the indentation.
        return Array(writer.bytes.drop { $0 == UInt8(ascii: " ") })
    }

    // MARK: Exchanges

    private static func exchanges(_ base: Version, _ sides: [Version], _ outcome: inout Outcome) -> [Merged] {
        let pairs = sides.map { self.pairs(base.exchanges, $0.exchanges) }
        var merged: [Merged] = []
        for (position, old) in base.exchanges.enumerated() {
            let versions = (0...1).map { side in pairs[side].ofBase[position].map { sides[side].exchanges[$0] } }
            let id = old.interaction.id
            switch (versions[0], versions[1]) {
            case (nil, nil): break
            case (let one?, let other?):
                if one.content == other.content || other.content == old.content {
                    merged.append(Merged(exchange: one, ancestor: id))
                } else if one.content == old.content {
                    merged.append(Merged(exchange: other, ancestor: id))
                } else {
                    outcome.conflicts.append("both sides changed \(self.name(old)) (exchange \(id))")
                    let first = one.content.lexicographicallyPrecedes(other.content) ? one : other
                    for exchange in [one, other] {
                        merged.append(
                            Merged(
                                exchange: exchange, ancestor: exchange.content == first.content ? id : nil,
                                note: "both sides changed this exchange: keep one of them, and remove this note"))
                    }
                }
            case (let kept?, nil), (nil, let kept?):
                // Removed by one side. If the other has changed it, somebody must decide.
                guard kept.content != old.content else { continue }
                outcome.conflicts.append("one side removed \(self.name(old)) (exchange \(id)), and the other changed it")
                merged.append(
                    Merged(
                        exchange: kept, ancestor: id,
                        note: "one side removed this exchange, and the other changed it: remove it, or remove this note"))
            }
        }
        merged += self.added(sides, pairs)
        return self.numbered(
            merged.sorted { one, other in
                let (left, right) = (one.exchange.interaction.started, other.exchange.interaction.started)
                if left != right { return left < right }
                if one.ancestor != other.ancestor { return one.ancestor ?? .max < other.ancestor ?? .max }
                return one.exchange.content.lexicographicallyPrecedes(other.exchange.content)
            }, sides)
    }

    /// The exchanges that are not in the ancestor. One that both sides added stands once.
    private static func added(_ sides: [Version], _ pairs: [(ofBase: [Int?], rest: [Int])]) -> [Merged] {
        var merged: [Merged] = []
        var left: [[UInt8]: [Int]] = [:]
        for position in pairs[0].rest {
            left[sides[0].exchanges[position].content, default: []].append(merged.count)
            merged.append(Merged(exchange: sides[0].exchanges[position], side: 0))
        }
        // The first of equal ones is taken first, from the end of its list.
        left = left.mapValues { Array($0.reversed()) }
        for position in pairs[1].rest {
            let exchange = sides[1].exchanges[position]
            guard let index = left[exchange.content]?.popLast() else {
                merged.append(Merged(exchange: exchange, side: 1))
                continue
            }
            // The lower id, so that it does not matter which side is which.
            if exchange.interaction.id < merged[index].exchange.interaction.id { merged[index] = Merged(exchange: exchange, side: 1) }
        }
        return merged
    }

    /// Which exchange of a side each of the ancestor's is: one with the same content, or else with the same id and start, or else with the
    /// same start, method and URL.
    private static func pairs(_ base: [Exchange], _ side: [Exchange]) -> (ofBase: [Int?], rest: [Int]) {
        var found = [Int?](repeating: nil, count: base.count)
        var isTaken = [Bool](repeating: false, count: side.count)
        func pair<Key: Hashable>(_ key: (Exchange) -> Key) {
            var open: [Key: [Int]] = [:]
            for position in side.indices.reversed() where !isTaken[position] { open[key(side[position]), default: []].append(position) }
            for position in base.indices where found[position] == nil {
                guard let match = open[key(base[position])]?.popLast() else { continue }
                found[position] = match
                isTaken[match] = true
            }
        }
        pair { $0.content }
        pair { "\($0.interaction.id) \($0.interaction.started.microseconds)" }
        pair { "\($0.interaction.started.microseconds) \($0.interaction.request.method) \($0.interaction.request.url)" }
        return (found, side.indices.filter { !isTaken[$0] })
    }

    /// Gives each exchange an id of its own: those of the ancestor keep theirs, and new ones if it is free. The same for connections.
    private static func numbered(_ merged: [Merged], _ sides: [Version]) -> [Merged] {
        var merged = merged
        var taken = Set(merged.compactMap(\.ancestor))
        let all = sides.flatMap(\.exchanges).map(\.interaction)
        var last = (all.map(\.id).max() ?? 0, all.compactMap { $0.connection?.id }.max() ?? 0)
        var connections: [Int: Int] = [:]
        for item in merged where item.side == nil {
            if let id = item.exchange.interaction.connection?.id { connections[id] = -1 }
        }
        var renamed: [[Int: Int]] = [[:], [:]]
        for index in merged.indices {
            var interaction = merged[index].exchange.interaction
            var isChanged = false
            func set(id: Int) {
                guard interaction.id != id else { return }
                interaction.id = id
                isChanged = true
            }
            if let ancestor = merged[index].ancestor {
                set(id: ancestor)
            } else if !taken.insert(interaction.id).inserted {
                last.0 += 1
                taken.insert(last.0)
                set(id: last.0)
            }
            if let side = merged[index].side, let connection = interaction.connection?.id {
                let number: Int
                if let known = renamed[side][connection] {
                    number = known
                } else if let owner = connections[connection], owner != side, owner != -1 {
                    last.1 += 1
                    number = last.1
                } else {
                    number = connection
                    if connections[connection] == nil { connections[connection] = side }
                }
                renamed[side][connection] = number
                if number != connection {
                    interaction.connection?.id = number
                    isChanged = true
                }
            }
            if let note = merged[index].note {
                interaction.unknown.removeAll { $0.name == self.noteMember }
                interaction.unknown.append(UnknownMember(name: self.noteMember, json: self.quoted(note)))
                isChanged = true
            }
            guard isChanged else { continue }
            merged[index].exchange.interaction = interaction
            merged[index].exchange.text = self.encoded(interaction)
        }
        return merged
    }

    private static func name(_ exchange: Exchange) -> String {
        "\(exchange.interaction.request.method) \(exchange.interaction.request.url.prefix(200))"
    }

    // MARK: The head

    /// Member by member. If both sides changed one, the result has one of them, and the other in the note.
    private static func members(_ base: Version, _ sides: [Version], _ outcome: inout Outcome) -> [UnknownMember] {
        func value(_ name: String, _ version: Version) -> [UInt8]? { version.members.first { $0.name == name }?.json }
        var names: [String] = []
        for member in base.members { names.append(member.name) }
        // Not by side, so that the result does not depend on which is which.
        names += Set((sides[0].members + sides[1].members).map(\.name)).subtracting(names).sorted()
        var merged: [UnknownMember] = []
        for name in names where name != self.noteMember {
            let (old, one, other) = (value(name, base), value(name, sides[0]), value(name, sides[1]))
            let result: [UInt8]?
            if self.areEqual(one, other) || self.areEqual(other, old) {
                result = one
            } else if self.areEqual(one, old) {
                result = other
            } else {
                outcome.conflicts.append("both sides changed \"\(name)\" in the head")
                let both = [one, other].compactMap(\.self).sorted { $0.lexicographicallyPrecedes($1) }
                result = both.first
                let note =
                    Array("{\"member\":".utf8) + self.quoted(name) + Array(",\"other\":".utf8)
                    + (both.count > 1 ? both[1] : Array("null".utf8)) + Array("}".utf8)
                merged.append(UnknownMember(name: self.noteMember, json: note))
            }
            if let result { merged.append(UnknownMember(name: name, json: result)) }
        }
        return merged
    }

    private static func areEqual(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        guard let left = try? JSONDocument(one), let right = try? JSONDocument(other) else { return one == other }
        return JSONComparison(left.root, right.root).changes.isEmpty
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }

    // MARK: Writing

    private static func document(_ members: [UnknownMember], version: Int, recorder: String, _ exchanges: [Merged]) -> [UInt8] {
        var text = Array("{\n  \"wiretape\": \(version),\n  \"recorder\": ".utf8) + self.quoted(recorder) + Array(",\n".utf8)
        for member in members { text += Array("  ".utf8) + self.quoted(member.name) + Array(": ".utf8) + member.json + Array(",\n".utf8) }
        text += Array("  \"interactions\": [".utf8)
        for (index, item) in exchanges.enumerated() {
            text += Array((index == 0 ? "\n    " : ",\n    ").utf8) + item.exchange.text
        }
        return text + Array((exchanges.isEmpty ? "]\n}\n" : "\n  ]\n}\n").utf8)
    }
}
