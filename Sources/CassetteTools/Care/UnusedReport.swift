public import CassetteModel
public import TapeBytes

/// Which exchanges a replay did not use, as its report in JSON says (docs/replay-report.md).
public struct UnusedReport: Sendable {
    /// The cassette as the replay was given it; nil where the report does not say.
    public let cassette: String?
    /// Their ids in the cassette, each with when it began, where the report says so.
    public let exchanges: [(id: Int, started: Timestamp?)]

    /// Octets: some hundred for each of a million exchanges.
    public static let sizeLimit = 256 << 20

    /// Takes `unusedExchanges`, objects with an `id`, or `unused`, an array of ids.
    public init(_ text: [UInt8], path: String) throws(CassetteError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            throw CassetteError(
                .damaged, "\"\(path)\" line \(error.line) is no JSON (\(error.reason)): give the file that \"--report FILE.json\" wrote.")
        }
        let root = document.root
        guard let list = [root["unusedExchanges"], root["unused"]].compactMap({ $0 }).first(where: { $0.kind == .array }) else {
            throw CassetteError(
                .damaged,
                "\"\(path)\" has no list of unused exchanges: give the file that \"wiretape replay --report FILE.json\" wrote.")
        }
        var exchanges: [(id: Int, started: Timestamp?)] = []
        for element in list.elements {
            guard let id = element.int ?? element["id"]?.int else {
                throw CassetteError(.damaged, "\"\(path)\" line \(element.line): an unused exchange has no id: write the report anew.")
            }
            exchanges.append((id, element["started"]?.string.flatMap { Timestamp($0) }))
        }
        self.exchanges = exchanges
        self.cassette = root["cassette"]?.string
    }
}
