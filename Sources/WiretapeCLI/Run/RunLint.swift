internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import Platform

/// The broken uploads in the cassette of a run, for `--fail-on lint`.
///
/// A replay is judged by the cassette that it replays: its requests are those.
struct RunLint {
    /// The most exchanges that are named.
    private static let limit = 10

    private var broken: [(number: Int, request: String, count: Int, first: String)] = []
    private(set) var defects = 0

    /// A run that recorded nothing has no cassette, and no uploads.
    init(_ path: String) throws(CassetteError) {
        guard access(path, F_OK) == 0 else { return }
        let cassette = try RecordedCassette(path: path)
        let reader = BodyReader(cassettePath: path)
        for index in 0..<cassette.count {
            let interaction = try cassette.interaction(at: index)
            guard let body = interaction.request.body else { continue }
            let headers = interaction.request.headers
            let lint: BodyLint?
            do {
                let contents = try BodyContents(body, headers: headers, reader: reader, readsBroken: true)
                lint = try BodyLint(contents, headers: headers, BodyLint.Context(side: .request, body: body))
            } catch let error as CassetteError {
                throw error
            } catch {
                throw CassetteError(.unreadable, "the request body of exchange \(index + 1) of \"\(path)\" cannot be read: \(error)")
            }
            guard let lint, let first = lint.findings.first else { continue }
            self.defects += lint.findings.count
            self.broken.append(
                (index + 1, "\(interaction.request.method) \(interaction.request.url)", lint.findings.count, first.sentence))
        }
    }

    /// One line for each broken upload, and how to see more.
    func lines(of path: String) -> [String] {
        guard !self.broken.isEmpty else { return [] }
        var lines = self.broken.prefix(Self.limit).map { broken in
            let more = broken.count > 1 ? ", and \(Quantity.count(broken.count - 1, "more defect"))" : ""
            return "broken upload in exchange \(broken.number), \(broken.request): \(broken.first)\(more)."
        }
        if self.broken.count > Self.limit { lines.append("\(Quantity.count(self.broken.count - Self.limit, "more broken upload")).") }
        return lines + ["for their bytes, and what to write: wiretape lint \(ShellWord.quoted(path))"]
    }
}
