/// Which exchanges a replay did not use, as its report in JSON says (docs/replay-report.md).
public struct UnusedReport: Sendable, Hashable {
    /// The cassette as the replay was given it; nil where the report does not say.
    public let cassette: String?
    /// Their ids in the cassette.
    public let ids: [Int]

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
        var ids: [Int] = []
        for element in list.elements {
            guard let id = element.int ?? element["id"]?.int else {
                throw CassetteError(.damaged, "\"\(path)\" line \(element.line): an unused exchange has no id: write the report anew.")
            }
            ids.append(id)
        }
        self.ids = ids
        self.cassette = root["cassette"]?.string
    }
}
