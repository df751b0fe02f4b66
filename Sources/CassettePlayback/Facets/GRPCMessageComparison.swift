internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

/// Compares the messages of a gRPC stream one by one under the rules, while the stream goes on.
///
/// Compares no order: the caller says which recorded message a live one is to be.
public struct GRPCMessageComparison: Sendable {
    private let rules: MatchRules
    private let headers: HeaderFields
    private let type: GRPCType
    private let schema: ProtoType?

    /// - Parameters:
    ///   - headers: of the live request; they name the form of its messages and their coding.
    ///   - url: of the request, for the names of fields.
    public init(rules: MatchRules, headers: HeaderFields, url: String) {
        // A recorded message may have a placeholder that stands for any value.
        self.rules = rules.keepingWholeValues()
        self.headers = headers
        self.type = GRPCType(headers) ?? .other
        self.schema = rules.schema?.types(ofURL: url)?.request
    }

    /// What a message is compared by. Keep that of a recorded message: making it is most of a comparison.
    ///
    /// - Parameters:
    ///   - message: with `content` in memory; of one in a file, pass its bytes as `content`.
    ///   - index: of the message among those of its side, from 0.
    public func facets(of message: GRPCMessage, content: [UInt8]? = nil, at index: Int) -> BodyFacets {
        guard self.rules.looksAtBody else { return .none }
        let facets = GRPCFacets(self.rules.body, self.type, headers: self.headers, schema: self.schema, digest: { PortableSHA256() })
        var collector = self.rules.body.collector
        let bytes = content ?? message.content.inlineBytes ?? []
        if message.isCompressed, message.coding == nil {
            facets.message(bytes, isCompressed: true, number: index + 1, into: &collector)
        } else {
            facets.message(bytes, number: index + 1, into: &collector)
        }
        return collector.facets(.grpc)
    }

    /// Of a live message as it came, without its prefix.
    public func facets(of payload: [UInt8], isCompressed: Bool, at index: Int) -> BodyFacets {
        self.facets(of: GRPCMessage(isCompressed: isCompressed, content: .binary(payload)), at: index)
    }

    /// Empty if the two are equal.
    public func differences(recorded: BodyFacets, live: BodyFacets) -> [RequestDifference] {
        recorded == live || recorded.fits(live: live) ? [] : live.differences(fromRecorded: recorded)
    }

    /// Empty if the two are equal. Neither may be in a file.
    public func differences(recorded: GRPCMessage, live: GRPCMessage, at index: Int) -> [RequestDifference] {
        self.differences(recorded: self.facets(of: recorded, at: index), live: self.facets(of: live, at: index))
    }
}
