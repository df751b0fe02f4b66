public import CassetteModel

/// Takes all content codings of a body off at once, the one applied last first.
///
/// Each coding is held to the limits for itself, so that none of several nested bombs goes off.
public final class DecoderChain {
    private struct Stopped: Error {}

    private let layers: [any CodingDecoder]
    private let names: [ContentEncoding.Name]
    /// Octets that each layer was given.
    private var fed: [Int]
    /// Octets delivered by the innermost layer.
    public private(set) var produced = 0
    /// Gets the number of octets that come out of any layer, piece by piece; what it throws ends `push`.
    package var meter: ((_ count: Int) throws -> Void)?

    /// `names` in the order applied. Nil where this build cannot take one of them off.
    public convenience init?(_ names: [ContentEncoding.Name], limits: InflateLimits) {
        self.init(names.map { ($0, nil) }, limits: limits)
    }

    /// With what is known of deflate's wrapper.
    package init?(_ codings: [(name: ContentEncoding.Name, format: DeflateFormat?)], limits: InflateLimits) {
        var layers: [any CodingDecoder] = []
        for coding in codings.reversed() {
            switch coding.name {
            case .gzip: layers.append(InflatingDecoder(format: .gzip, limits: limits))
            case .deflate: layers.append(InflatingDecoder(format: coding.format, limits: limits))
            case .br:
                #if CODINGS
                layers.append(BrotliDecoder(limits: limits))
                #else
                return nil
                #endif
            case .zstd:
                #if CODINGS
                layers.append(ZstandardDecoder(limits: limits))
                #else
                return nil
                #endif
            }
        }
        self.layers = layers
        self.names = codings.reversed().map(\.name)
        self.fed = layers.map { _ in 0 }
    }

    /// The first problem on the way from the wire inwards, and the coding that has it.
    public var problem: (name: ContentEncoding.Name, problem: InflateProblem)? {
        for (index, layer) in self.layers.enumerated() {
            if case .failed(let problem) = layer.status { return (self.names[index], problem) }
        }
        return nil
    }

    /// Octets behind each stream that belong to none, from the wire inwards.
    var leftOver: [Int] { zip(self.fed, self.layers).map { $0 - $1.consumed } }

    /// What was found out about each coding, from the wire inwards.
    package var found: [DecodedLayer] {
        zip(self.names, self.layers).enumerated().map { index, layer in
            DecodedLayer(layer.0, layer.1, leftOver: self.fed[index] - layer.1.consumed)
        }
    }

    /// Takes the next piece; answers whether it can take more. Unusable after `deliver` has thrown.
    public func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        do {
            try self.push(input, to: 0, deliver)
            return true
        } catch is Stopped {
            return false
        }
    }

    /// No more input comes; answers whether all streams were whole.
    public func finish() -> Bool {
        // Of what stopped in the middle the rest of the wire was not looked at: it is not cut short.
        guard self.problem == nil else { return false }
        for layer in self.layers where layer.status == .needsMore { _ = layer.finish() }
        return self.problem == nil
    }

    private func push(_ input: UnsafeRawBufferPointer, to index: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard index < self.layers.count else {
            self.produced += input.count
            return try deliver(input)
        }
        let layer = self.layers[index]
        self.fed[index] += input.count
        guard layer.status == .needsMore else { return }
        let status = try layer.push(input) { output in
            try self.meter?(output.count)
            try self.push(output, to: index + 1, deliver)
        }
        if case .failed = status { throw Stopped() }
    }
}
