import Foundation
import TapeTLS
import Testing

@testable import WiretapeCLI

@Suite struct NamespacePlanSystemTests {
    @Test func theAuthoritysRootsLieReadyUnderTheirHashes() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (try MadeAuthority(in: folder.file("1")), try MadeAuthority(in: folder.file("2")))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let trust = ChildTrust(bundle: "/bundle.pem", javaStore: nil, wgetSettings: "", notices: [])
        for _ in 0..<2 {
            let plan = try NamespacePlan.prepare(
                trust, authority: one.pem + two.pem, folder: TrustFolder(path: folder.file("trust")), files: ["/f"], folders: ["/d"])
            #expect(plan.bundle == "/bundle.pem" && plan.files == ["/f"] && plan.folders == ["/d"])
            #expect(plan.holder == folder.file("trust/holder"))
            #expect(try plan.roots.map { try WholeFile.read($0.path) } == [one.pem, two.pem])
            #expect(try plan.roots.map(\.hash) == [Certificate(pem: one.pem).subjectHash, Certificate(pem: two.pem).subjectHash])
        }
    }

    @Test func aFolderThatCannotBeMadeIsTold() throws {
        let trust = ChildTrust(bundle: "b", javaStore: nil, wgetSettings: "", notices: [])
        let problem = trustProblem {
            _ = try NamespacePlan.prepare(trust, authority: [], folder: TrustFolder(path: "/dev/null"), files: [], folders: [])
        }
        #expect(problem?.contains("--ca-dir") == true)
    }
}
