public import CassetteModel

/// What can be read of a coded body: all of its content, or what is in front of the place where it breaks.
///
/// For views only: a body is developed by `BodyDeveloper`, which also proves that it can be restored.
public struct DecodedBeginning: Sendable, Hashable {
    public var octets: [UInt8]
    /// Whether this is all of the content, of a whole stream.
    public var isWhole: Bool
    /// Where and why it breaks; nil as well where only the caller's limit was reached.
    public var problem: InflateProblem?
    /// The coding that has the problem.
    public var name: ContentEncoding.Name?
    /// Octets behind the coded stream that belong to nothing.
    public var leftOver = 0

    private struct Enough: Error {}

    /// Collects `limit` octets at most. A source without a coding that is taken off is its own content.
    public static func read(
        _ source: OctetSource, _ encoding: ContentEncoding, limit: Int = BodyDeveloper.memoryLimit
    ) throws -> DecodedBeginning {
        var octets: [UInt8] = []
        var isAll = true
        func collect(_ piece: UnsafeRawBufferPointer) throws {
            let room = limit - octets.count
            octets.append(contentsOf: piece.prefix(room))
            guard piece.count <= room else { throw Enough() }
        }
        guard case .coded(let names) = encoding, let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else {
            do { try source.forEachPiece(collect) } catch is Enough { isAll = false }
            return DecodedBeginning(octets: octets, isWhole: isAll && octets.count == source.size)
        }
        do {
            try source.forEachPiece(while: { try chain.push($0, deliver: collect) })
        } catch is Enough {
            return DecodedBeginning(octets: octets, isWhole: false)
        }
        let isWhole = chain.finish()
        let problem = chain.problem
        return DecodedBeginning(
            octets: octets, isWhole: isWhole, problem: problem?.problem, name: problem?.name,
            leftOver: problem == nil ? chain.leftOver.reduce(0, +) : 0)
    }
}
