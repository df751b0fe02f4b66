internal import Foundation
public import TapeBytes

extension JSONValue {
    /// `[String: Any]`, `[Any]`, `String`, `Int`, `Double`, `Decimal`, `Bool` or `NSNull`.
    ///
    /// The last of several members of one name counts, as for other readers. Whole numbers past `Int` and decimals that a `Double` does not
    /// hold are `Decimal`s. A `Bool` is never a number here, nor a number a `Bool`, on any platform.
    public var foundationObject: Any {
        switch self.kind {
        case .object:
            var members: [String: Any] = [:]
            for member in self.members { members[member.name.text] = member.value.foundationObject }
            return members
        case .array: return self.elements.map(\.foundationObject)
        case .string: return self.text
        case .number: return self.int ?? self.number
        case .true: return true
        case .false: return false
        case .null: return NSNull()
        }
    }

    /// With replacement characters for halves of surrogate pairs, which no text can have.
    private var text: String {
        if let string = self.string { return string }
        let list = try? JSONSerialization.jsonObject(with: Data(self.raw), options: .fragmentsAllowed)
        return list as? String ?? "\u{FFFD}"
    }

    private var number: Any {
        let spelling = String(decoding: self.raw, as: UTF8.self)
        let hasFraction = spelling.utf8.contains { ".eE".utf8.contains($0) }
        if !hasFraction, let decimal = Decimal(string: spelling) { return decimal }
        return self.double ?? Decimal(string: spelling) as Any? ?? NSNull()
    }
}
