internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

/// Compares the messages of a gRPC stream one by one under the rules, while the stream is open.
///
/// Does not compare order: the caller chooses the recorded message for each live one.
public struct GRPCMessageComparison: Sendable {
    private let rules: MatchRules
    private let framing: MessageFraming?
    private let schema: ProtoType?

    /// - Parameters:
    ///   - headers: the live request's header fields, which name the form of its messages and their coding.
    ///   - url: the request's URL, to look up the names of fields.
    public init(rules: MatchRules, headers: HeaderFields, url: String) {
        // A recorded message may have a placeholder that matches any value.
        self.rules = rules.keepingWholeValues()
        self.framing = MessageFraming(headers)
        self.schema = rules.schema?.types(ofURL: url)?.request
    }

    /// The facets of a message. Keep those of a recorded message: making them is most of the cost of a comparison.
    ///
    /// - Parameters:
    ///   - message: with its `content` in memory. If the content is in a file, pass its bytes as `content`.
    ///   - index: the index of the message among those of its side, from 0.
    public func facets(of message: GRPCMessage, content: [UInt8]? = nil, at index: Int) -> BodyFacets {
        guard self.rules.looksAtBody, let framing else { return .none }
        let facets = GRPCFacets(self.rules.body, framing, schema: self.schema, digest: { PortableSHA256() })
        var collector = self.rules.body.collector
        let bytes = content ?? message.content.inlineBytes ?? []
        if message.isCompressed, message.coding == nil {
            facets.message(bytes, isCompressed: true, number: index + 1, into: &collector)
        } else {
            facets.message(bytes, number: index + 1, into: &collector)
        }
        return collector.facets(.grpc)
    }

    /// The facets of a live message as it arrived, without its prefix.
    public func facets(of payload: [UInt8], isCompressed: Bool, at index: Int) -> BodyFacets {
        self.facets(of: GRPCMessage(isCompressed: isCompressed, content: .binary(payload)), at: index)
    }

    /// Empty if the two are equal.
    public func differences(recorded: BodyFacets, live: BodyFacets) -> [RequestDifference] {
        recorded == live || recorded.fits(live: live) ? [] : live.differences(fromRecorded: recorded)
    }

    /// Empty if the two are equal. Neither message may be stored in a file.
    public func differences(recorded: GRPCMessage, live: GRPCMessage, at index: Int) -> [RequestDifference] {
        self.differences(recorded: self.facets(of: recorded, at: index), live: self.facets(of: live, at: index))
    }
}
