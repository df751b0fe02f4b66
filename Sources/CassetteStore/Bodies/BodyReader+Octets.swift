public import CassetteFormat
public import CassetteModel
public import TapeBytes

extension BodyReader {
    /// A sidecar to be read again and again; its digest is checked once, before. Open only while it is read.
    public func source(_ sidecar: Sidecar, digest: some ContentDigest) throws(CassetteError) -> OctetSource {
        let check = try self.open(sidecar, digest: digest)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: OctetSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while try check.read(into: buffer) > 0 {}
        var box: FileBox?
        return OctetSource(size: sidecar.size, rest: { box = nil }) { offset, buffer in
            let opened = try box ?? FileBox(self.openFile(sidecar.path))
            box = opened
            return try opened.file.read(into: buffer, at: offset)
        }
    }

    /// Gives an open file to a closure.
    private final class FileBox {
        let file: OpenFile

        init(_ file: consuming OpenFile) { self.file = file }
    }

    /// The wire octets of a body without codings whose parts may lie in files; their digests are checked once, before.
    public func uncodedSource(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> OctetSource {
        do {
            return try BodyRestorer.uncoded(
                body, file: { try self.source($0, digest: digest()) }, raw: { OctetSource(try self.read($0)) })
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a body cannot be restored (\(error)); record the exchange again")
        }
    }

    /// The content of a body, without the codings that were taken off it; the digests of its files are checked once, before.
    public func contentSource(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> OctetSource {
        do {
            return try BodyRestorer.decoded(
                of: body, file: { try self.source($0, digest: digest()) }, raw: { OctetSource(try self.read($0)) })
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a body cannot be read (\(error)); record the exchange again")
        }
    }

    /// The wire octets of any body, piece by piece; the digests of its files are checked once, before.
    public func restoredStream(of body: Body, digest: @escaping () -> any ContentDigest) throws(CassetteError) -> RestoredStream {
        do {
            return try BodyRestorer.open(
                body, file: { try self.source($0, digest: digest()) }, raw: { OctetSource(try self.read($0)) })
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a body cannot be restored (\(error)); record the exchange again")
        }
    }

    /// The octets of a body as they crossed the wire.
    public func wireBytes(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> BodyRestorer.Restored {
        do {
            return try BodyRestorer.wireBytes(
                of: body, file: { try self.read($0, digest: digest()) }, raw: { try self.read($0) }, digest: digest())
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a body cannot be restored (\(error)); record the exchange again")
        }
    }
}
