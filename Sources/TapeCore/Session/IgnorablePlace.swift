/// The place of a difference as a rule names it, so that a run can be told to overlook it.
enum IgnorablePlace {
    /// `query:page`; nil where no rule can leave the difference out, or its name is not plain enough to be typed.
    static func text(_ difference: RequestDifference) -> String? {
        switch difference {
        case .queryItemAdded(let item), .queryItemRemoved(let item): self.place("query:", self.name(item))
        case .queryItemChanged(let here, let recorded):
            self.name(here) == self.name(recorded) ? self.place("query:", self.name(here)) : nil
        case .header(let name, _, _): self.place("header:", name)
        case .json(let pointer, _, _): self.place("json:", pointer)
        case .formField(let name, _, _): self.place("form:", name)
        case .part(let name, _): self.place("part:", name)
        case .graphQLItem(let name, _, _): self.place("query:", name)
        case .method, .scheme, .userInformation, .host, .port, .path, .queryOrder, .remainder, .bodyKind, .closingDelimiter, .text, .octets,
            .bodyRemainder, .custom:
            nil
        }
    }

    private static func name(_ item: String) -> String { String(item.prefix { $0 != "=" }) }

    /// Names that a shell takes as they are: what has to be quoted or decoded first is left to people.
    private static func place(_ kind: String, _ name: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.isPlain($0) }) else { return nil }
        return kind + name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
