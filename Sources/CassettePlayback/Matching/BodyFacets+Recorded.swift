public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

extension BodyFacets {
    /// How much of what lies beside the cassette is read.
    public enum RecordedDetail: Sendable, Hashable {
        /// What it takes to compare: octets and parts in files are not read, as their digests are known. Placeholders in them are not
        /// seen as marks.
        case digests
        /// The beginnings of all values too, to explain a difference, and marks in files.
        case contents
    }

    /// The facets of a recorded body, equal to those of a live request that sends the same. May read files beside the cassette.
    ///
    /// - Parameters:
    ///   - headers: of the recorded request.
    ///   - reader: opens the cassette's files.
    ///   - redaction: takes out of the body what is taken out of live ones. It may have been recorded by other rules, or by a version that
    ///     found less.
    ///   - digest: makes a SHA-256.
    public init(
        recorded body: Body?, headers: HeaderFields, url: String, rules: MatchRules, reader: BodyReader,
        detail: RecordedDetail = .digests, redaction: LiveRedactor? = nil, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        guard let body, body.content != .empty, rules.looksAtBody else {
            self = BodyFacetBuilder(rules: rules, headers: headers, url: url, digest: digest).finish()
            return
        }
        do {
            let recorded = RecordedFacets(
                headers: headers, url: url, rules: rules, reader: reader, detail: detail, redaction: redaction, digest: digest)
            self = try recorded.facets(of: body)
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a recorded request body cannot be read (\(error)); record the exchange again")
        }
    }
}
