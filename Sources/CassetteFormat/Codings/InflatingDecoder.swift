internal import CassetteModel

/// Decodes one content coding: takes pieces of coded bytes of any size, and delivers pieces of decoded bytes.
///
/// Does not keep what it has delivered. No input traps: problems are reported as a status.
protocol CodingDecoder: AnyObject {
    /// `ended` as soon as bytes arrive that do not belong to the coding; a stream that ends with the input ends with `finish`.
    var status: InflateStatus { get }
    /// How many bytes of input belong to the coding so far. After a failure, the library may have examined some more.
    var consumed: Int { get }
    /// Decoded bytes delivered so far.
    var produced: Int { get }

    /// Takes the next piece. The decoder must not be used after `deliver` has thrown.
    func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> InflateStatus

    /// Ends the input. A stream that is not complete is truncated.
    func finish() -> InflateStatus
}

/// Decodes gzip or deflate, treating all members of a gzip stream (RFC 1952, 2.2) as one content.
///
/// Decides by two bytes whether a deflate stream has zlib's wrapper, unless the caller specifies it. Bytes after the last member that do
/// not begin another are not touched.
final class InflatingDecoder: CodingDecoder {
    private static let magic: [UInt8] = [0x1f, 0x8b]

    private(set) var format: DeflateFormat?
    private(set) var status: InflateStatus = .needsMore
    /// The header of the first member.
    private(set) var header: GzipHeader?
    /// The number of complete members so far.
    private(set) var members = 0
    /// The first members, at most as many as can have their own parameters.
    private(set) var firstMembers: [DecodedLayer.Member] = []

    var consumed: Int { self.isBehindEnd ? self.base : self.base + self.inflater.consumed }
    var produced: Int { self.isBehindEnd ? self.producedBefore : self.producedBefore + self.inflater.produced }

    private var inflater: Inflater
    private var limits: InflateLimits
    /// How many bytes of input precede the current member.
    private var base = 0
    private var producedBefore = 0
    /// How many bytes of input the current member received.
    private var fed = 0
    /// Bytes that may begin a member, or a wrapper whose format is not known yet.
    private var pending: [UInt8] = []

    init(format: DeflateFormat?, limits: InflateLimits = InflateLimits()) {
        self.format = format
        self.limits = limits
        self.inflater = Inflater(format: format ?? .zlib, limits: limits)
    }

    /// Begins a new stream and reuses the memory of the old one.
    func restart(format: DeflateFormat?, limits: InflateLimits = InflateLimits()) {
        self.format = format
        self.limits = limits
        self.inflater.restart(format: format ?? .zlib, limits: limits)
        self.status = .needsMore
        self.header = nil
        self.members = 0
        self.firstMembers.removeAll(keepingCapacity: true)
        self.base = 0
        self.producedBefore = 0
        self.fed = 0
        self.pending.removeAll(keepingCapacity: true)
    }

    private var isBehindEnd: Bool { self.members > 0 && self.inflater.status == .ended }

    @discardableResult
    func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> InflateStatus {
        var position = 0
        while self.status == .needsMore, position < input.count {
            if self.format == nil || self.isBehindEnd {
                self.pending.append(input[position])
                position += 1
                guard self.decide() else { continue }
                // The pending bytes belong to the stream.
                let pending = self.pending
                self.pending.removeAll(keepingCapacity: true)
                try pending.withUnsafeBytes { _ = try self.inflate($0, deliver) }
            } else {
                position += try self.inflate(UnsafeRawBufferPointer(rebasing: input[position...]), deliver)
            }
        }
        return self.status
    }

    @discardableResult
    func finish() -> InflateStatus {
        guard self.status == .needsMore else { return self.status }
        if self.isBehindEnd {
            self.status = .ended
        } else {
            // A stream of one byte has no recognisable wrapper.
            let rest = self.pending.count
            self.inflater.finish()
            self.settle()
            if case .failed(var problem) = self.status, rest > 0 {
                problem.offset += rest
                self.status = .failed(problem)
            }
        }
        return self.status
    }

    /// Examines the pending bytes. Returns whether they begin a stream, which is then passed to the inflater.
    private func decide() -> Bool {
        if self.format == nil {
            guard self.pending.count == 2 else { return false }
            // RFC 1950, 2.2: the method, and a check over both bytes.
            let isZlib = self.pending[0] & 15 == 8 && (Int(self.pending[0]) << 8 | Int(self.pending[1])) % 31 == 0
            self.format = isZlib ? .zlib : .raw
            self.inflater.restart(format: isZlib ? .zlib : .raw, limits: self.limits)
            return true
        }
        guard self.format == .gzip, self.pending[...] == Self.magic.prefix(self.pending.count) else {
            self.status = .ended
            return false
        }
        guard self.pending.count == Self.magic.count else { return false }
        let rest = InflateLimits(output: self.limits.output - self.producedBefore, ratio: self.limits.ratio)
        self.inflater.restart(format: .gzip, limits: rest)
        return true
    }

    private func inflate(_ input: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> Int {
        let before = self.fed
        self.fed += input.count
        let status = try self.inflater.push(input, deliver: deliver)
        let taken = status == .ended ? self.inflater.consumed - before : input.count
        self.settle()
        return taken
    }

    private func settle() {
        switch self.inflater.status {
        case .needsMore:
            return
        case .ended:
            self.members += 1
            if self.members == 1 { self.header = self.inflater.header }
            if self.members <= GzipMember.limit {
                self.firstMembers.append(
                    .init(header: self.inflater.header, codedSize: self.inflater.consumed, size: self.inflater.produced))
            }
            self.base += self.inflater.consumed
            self.producedBefore += self.inflater.produced
            self.fed = 0
        case .failed(var problem):
            problem.offset += self.base
            if problem.kind == .tooLong { problem.reason = "decoded body longer than \(self.limits.output) bytes" }
            self.status = .failed(problem)
        }
    }
}
