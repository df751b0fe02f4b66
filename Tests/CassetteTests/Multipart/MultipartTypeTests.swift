import Testing

@testable import CassetteModel

struct MultipartTypeTests {
    private func type(_ text: String) -> MultipartType? { MultipartType(Array(text.utf8)) }

    @Test func readsTheFamilyAndTheBoundary() {
        #expect(self.type("Multipart/Form-Data; boundary=\"a b\"")?.isFormData == true)
        #expect(self.type("multipart/mixed; boundary=\"a b\"")?.boundary == MultipartBoundary("a b"))
        #expect(self.type("multipart/related")?.boundary == nil)
        #expect(self.type("multipart/related; boundary=")?.boundary == nil)
        #expect(self.type("text/plain; boundary=a") == nil)
    }

    @Test func ofSeveralTheFirstWithABoundaryCounts() {
        #expect(self.type("multipart/form-data, multipart/form-data; boundary=a")?.boundary == MultipartBoundary("a"))
        #expect(self.type("multipart/form-data, text/plain; boundary=a")?.boundary == nil)
        let fields = HeaderFields(["Content-Type: multipart/form-data", "Content-Type: multipart/mixed; boundary=b"])
        #expect(MultipartType(fields)?.boundary == MultipartBoundary("b"))
        #expect(MultipartType(HeaderFields(["Content-Type: multipart/form-data", "A: b"]))?.subtype == "form-data")
        #expect(MultipartType(HeaderFields(["A: multipart/form-data"])) == nil)
    }

    @Test func readsThePartsOwnFields() {
        let section = PartHeaderSection(bytes: Array("content-type: multipart/mixed;\r\n boundary=c\r\n\r\n".utf8))
        #expect(MultipartType(part: section)?.boundary == MultipartBoundary("c"))
    }
}
