internal import TapeBytes
internal import CassetteModel

/// What a list says of one exchange.
struct ExchangeRow {
    /// Counts from 1 in order of request start; `inspect FILE N` takes it.
    var number: Int
    var id: Int
    var method: String
    var url: String
    var status: Int?
    var outcome: Outcome
    /// The response's media type, or what stands in its place; nil without a Content-Type.
    var type: String?
    /// The version of TLS on the way to the origin; nil without.
    var tls: String?
    /// Octets of the response's body as they crossed the wire; of a tunnel, what came back through it.
    var size: Int?
    /// Octets of both bodies.
    var bodyOctets: Int
    var started: Timestamp
    var timing: Timing
    /// In milliseconds.
    var total: Double? { self.timing.total }

    init(number: Int, _ interaction: Interaction) {
        let response = interaction.response
        self.number = number
        self.id = interaction.id
        self.method = interaction.request.method
        self.url = interaction.request.url
        self.status = response?.status
        self.outcome = interaction.outcome
        self.type = response.flatMap { Self.type($0.headers) }
        self.tls = interaction.connection?.tls?.version
        self.size = interaction.tunnel?.received ?? response?.body?.size
        self.bodyOctets = Self.sum(interaction.request.body?.size ?? 0, self.size ?? 0)
        self.started = interaction.started
        self.timing = interaction.timing
    }

    /// Sizes of a cassette that was not written by a recorder can be anything.
    static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    static func type(_ headers: HeaderFields) -> String? {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let essence = MediaType(headers.valueBytes(at: index)).essence
        return essence.isEmpty ? String(decoding: headers.valueBytes(at: index).prefix(64), as: UTF8.self) : essence
    }

    /// `complete`, `cut origin`, `failed refused`.
    var outcomeWords: String {
        switch self.outcome {
        case .complete: "complete"
        case .cut(let cut): "cut \(cut.by.rawValue)"
        case .failed(let failure): "failed \(failure.kind.rawValue)"
        }
    }

    /// The status, and what kept the exchange from its end.
    var statusWords: String {
        let status = self.status.map { "\($0)" }
        return switch self.outcome {
        case .complete: status ?? "-"
        case .cut: status.map { "\($0) cut" } ?? "cut"
        case .failed(let failure): "failed \(failure.kind.rawValue)"
        }
    }

    /// The same for narrow screens: what failed is red there all the same.
    var shortStatusWords: String {
        guard case .failed(let failure) = self.outcome else { return self.statusWords }
        return failure.kind.rawValue
    }

    var statusColor: Paint.Color? {
        switch self.outcome {
        case .complete: self.status.flatMap { Paint.color(status: $0) }
        case .cut, .failed: .red
        }
    }
}
