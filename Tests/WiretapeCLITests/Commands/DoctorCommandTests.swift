import CassetteModel
import Foundation
import Testing

@testable import WiretapeCLI

@Suite struct DoctorCommandTests {
    @Test func itPrintsWhatItSeesAndExitsWith0() throws {
        let end = try Wiretape.run(["doctor"])
        #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
        #expect(end.outputText.hasPrefix("wiretape \(Version.current) on ") && end.outputText.contains("authority"))
    }

    @Test func programsReadIt() throws {
        let end = try Wiretape.run(["doctor", "--json", "--require", "authority"])
        #expect(end.status == 0, "\(end.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(end.output)) as? [String: Any])
        #expect((object["capabilities"] as? [Any])?.isEmpty == false)
    }

    @Test func whatIsRequiredAndNotThereIs1() throws {
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["doctor", "--require", "authority", "--require", "system-trust", "--ca-dir", folder.file("ca")])
        #expect(end.status == 1)
        #expect(end.errors.contains("\"authority\" is required") && end.errors.contains("\"system-trust\" is required"), "\(end.errors)")
        #expect(try folder.names(in: ".") == [])
    }

    @Test func otherRequirementsAreWrongUsage() throws { #expect(try Wiretape.run(["doctor", "--require", "luck"]).status == 64) }
}
