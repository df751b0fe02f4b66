internal import CZlib
internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The inflater and the chain of codings: nothing depends on the cuts, limits hold, and raw deflate decodes as zlib alone decodes it.
///
/// An input is a byte for the format, one for the cuts, and the coded bytes.
package enum InflateTarget: FuzzTarget {
    private static let limit = 1 << 18

    private struct Outcome: Equatable {
        var bytes: [UInt8] = []
        var status: InflateStatus
        var consumed: Int
        var header: GzipHeader?
    }

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard input.count > 2 else { return }
        let coded = UnsafeRawBufferPointer(rebasing: input[2...])
        let seed = input[1]
        switch input[0] % 6 {
        case 0: try self.inflate(coded, .gzip, seed)
        case 1: try self.inflate(coded, .zlib, seed)
        case 2: try self.inflate(coded, .raw, seed)
        case 3: try self.peel(coded, [.gzip], seed)
        case 4: try self.peel(coded, [.deflate, .gzip], seed)
        default: try self.peel(coded, input[0] < 128 ? [.br] : [.zstd], seed)
        }
    }

    private static func inflate(_ coded: UnsafeRawBufferPointer, _ format: DeflateFormat, _ seed: UInt8) throws {
        let whole = try self.outcome(format, [Array(coded)])
        let pieces = try self.outcome(format, Cuts(seed: seed).pieces(of: coded))
        try self.expect(whole.bytes.count <= self.limit, "more bytes than the limit allows")
        try self.expect(whole.consumed <= coded.count, "more bytes taken than there are")
        // Where a stream fails in its middle, zlib may have given more or less of what came before.
        if whole.status == .ended || pieces.status == .ended { try self.expect(whole == pieces, "the outcome depends on the cuts") }
        if format == .raw, let bytes = self.zlibs(coded) {
            try self.expect(whole.status == .ended && whole.bytes == bytes, "zlib alone decodes it otherwise")
        }
    }

    private static func outcome(_ format: DeflateFormat, _ pieces: [[UInt8]]) throws -> Outcome {
        var inflater = Inflater(format: format, limits: InflateLimits(output: self.limit))
        var bytes: [UInt8] = []
        for piece in pieces { _ = piece.withUnsafeBytes { inflater.push($0) { bytes.append(contentsOf: $0) } } }
        inflater.finish()
        try self.expect(inflater.produced == bytes.count, "another number of bytes than delivered")
        return Outcome(bytes: bytes, status: inflater.status, consumed: inflater.consumed, header: inflater.header)
    }

    /// What one call of zlib makes of a raw stream; nil where it is not whole or too long.
    private static func zlibs(_ coded: UnsafeRawBufferPointer) -> [UInt8]? {
        var stream = z_stream()
        guard wiretape_inflateInit2(&stream, -MAX_WBITS) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var bytes = [UInt8](repeating: 0, count: self.limit)
        let code = bytes.withUnsafeMutableBufferPointer { buffer in
            stream.next_in = UnsafeMutablePointer(mutating: coded.bindMemory(to: UInt8.self).baseAddress)
            stream.avail_in = UInt32(coded.count)
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(buffer.count)
            return CZlib.inflate(&stream, Z_FINISH)
        }
        guard code == Z_STREAM_END else { return nil }
        return Array(bytes.prefix(self.limit - Int(stream.avail_out)))
    }

    private static func peel(_ coded: UnsafeRawBufferPointer, _ names: [ContentEncoding.Name], _ seed: UInt8) throws {
        func peeled(_ pieces: [[UInt8]]) throws -> (problem: InflateProblem?, bytes: [UInt8])? {
            guard let chain = DecoderChain(names, limits: InflateLimits(output: self.limit)) else { return nil }
            var bytes: [UInt8] = []
            for piece in pieces {
                // The closure throws nothing, so `push` does not either.
                guard piece.withUnsafeBytes({ (try? chain.push($0) { bytes.append(contentsOf: $0) }) == true }) else { break }
            }
            let isWhole = chain.finish()
            let problem = chain.problem?.problem
            try self.expect(isWhole == (problem == nil), "whole with a problem")
            try self.expect(chain.produced == bytes.count && bytes.count <= self.limit, "another number of bytes than told or allowed")
            return (problem, bytes)
        }
        guard let whole = try peeled([Array(coded)]), let pieces = try peeled(Cuts(seed: seed).pieces(of: coded)) else { return }
        // libzstd decodes a frame that it has as a whole in another way, which refuses more (1.5.4: a content size that is not kept).
        if names != [.zstd] {
            let problems = "\(String(describing: whole.problem)), in pieces \(String(describing: pieces.problem))"
            try self.expect((whole.problem == nil) == (pieces.problem == nil), "whether it is whole depends on the cuts: \(problems)")
        }
        if whole.problem == nil, pieces.problem == nil { try self.expect(whole.bytes == pieces.bytes, "the content depends on the cuts") }
    }
}
