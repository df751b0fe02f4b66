import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
@testable import CassetteTools
@testable import TapeBytes

@Suite struct BodyCopierTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    @Test func filesAndSlicesAreNamedAnew() throws {
        let store = try BodyStore(cassettePath: self.folder.file("b.json"))
        let copier = BodyCopier(from: self.folder.file("a.json"), to: store, digest: { PortableSHA256() })
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json", ext: "jpg")
        var body = Body.file(sidecar)
        body.original = try self.folder.sidecar([4], of: "a.json", ext: "gz")
        let copy = try copier.copy(body)
        #expect(copy.content.sidecars.map(\.path) == ["b.bodies/\(sidecar.sha256).jpg"])
        #expect(copy.original?.path.hasPrefix("b.bodies/") == true)
        let slice = try self.folder.raw([7, 8], of: "a.json")
        let raw = try copier.copy(Body(size: 2, content: .raw(slice)))
        try store.syncAll()
        let reader = BodyReader(cassettePath: self.folder.file("b.json"))
        #expect(try reader.wireBytes(of: raw, digest: { PortableSHA256() }).bytes == [7, 8])
        #expect(try self.folder.folder.read("b.bodies/\(sidecar.sha256).jpg") == [1, 2, 3])
        #expect(try copier.copy(.text("x")) == .text("x"))
    }

    @Test func aFileThatIsNotWhatItSaysIsNotCopied() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        try self.folder.folder.write([1, 2, 4], to: sidecar.path)
        let copier = BodyCopier(
            from: self.folder.file("a.json"), to: try BodyStore(cassettePath: self.folder.file("b.json")), digest: { PortableSHA256() })
        #expect(cassetteError { _ = try copier.copy(.file(sidecar)) }?.code == .damaged)
        #expect(try self.folder.folder.names(in: "b.bodies") == [])
    }
}
