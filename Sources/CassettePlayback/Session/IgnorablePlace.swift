/// The place of a difference as a rule names it, so that a run can be told to overlook it.
enum IgnorablePlace {
    /// `query:page`; nil where no rule can leave the difference out, or should, or its name cannot be typed as it is shown.
    static func text(_ difference: RequestDifference) -> String? {
        switch difference {
        case .queryItemAdded(let item), .queryItemRemoved(let item): self.item(item)
        case .queryItemChanged(let here, let recorded): self.item(here) == self.item(recorded) ? self.item(here) : nil
        case .scheme: "scheme"
        case .port: "port"
        case .header(let name, _, _): self.place("header:", name)
        case .json(let pointer, _, _): self.place("json:", pointer)
        case .formField(let name, _, _): self.place("form:", name)
        case .part(let name, _): self.place("part:", name)
        case .graphQLItem(let name, _, _): self.place("query:", name)
        // Another host, method or path is another request.
        case .method, .userInformation, .host, .path, .queryOrder, .remainder, .bodyKind, .closingDelimiter, .text, .octets, .bodyRemainder,
            .custom:
            nil
        }
    }

    /// A place, or a path, as one word of a shell.
    static func word(_ text: String) -> String { text.utf8.allSatisfy { Self.isPlain($0) } ? text : "'\(text)'" }

    /// Whether quotes are all that a shell needs to take it as it is: what was escaped or cut to be shown is another text.
    static func isTypeable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\\") }
    }

    /// By its name, decoded as rules have it.
    private static func item(_ item: String) -> String? {
        self.place("query:", String(decoding: FormFacets.decoded(Array(item.utf8.prefix { $0 != UInt8(ascii: "=") })), as: UTF8.self))
    }

    /// Placeholders and boundaries in a name differ from run to run.
    private static func place(_ kind: String, _ name: String) -> String? {
        self.isTypeable(name) && !name.contains("{{") ? kind + name : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "~"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
