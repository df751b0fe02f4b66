@testable import CassetteModel
@testable import CassetteStore
import TapeTestSupport
import Testing

struct DescriptorFilesTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func error(_ paths: String...) -> CassetteError? {
        #expect(throws: CassetteError.self) { try DescriptorFiles.schema(paths.map(self.folder.file)) }
    }

    @Test func filesAndFoldersNameTypes() throws {
        try self.folder.write(SampleSchema.bytes, to: "pets.pb")
        try self.folder.write([1], to: "notes.txt")
        for path in [self.folder.file("pets.pb"), self.folder.file("")] {
            #expect(try DescriptorFiles.schema([path])?.types(ofPath: "/pets.v1.Pets/Get") != nil)
        }
        #expect(try DescriptorFiles.schema([]) == nil)
    }

    @Test func errorNamesTheFile() throws {
        try self.folder.write(Array("syntax = \"proto3\";".utf8), to: "pets.proto")
        let wrong = self.error("pets.proto")
        #expect(wrong?.message.contains("pets.proto") == true && wrong?.message.contains("--descriptor_set_out") == true)
        #expect(self.error("none.pb")?.code == .notFound)
        #expect(self.error("")?.message.contains(".protoset") == true)
    }
}
