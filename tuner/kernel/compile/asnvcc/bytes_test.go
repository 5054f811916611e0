package asnvcc

import "testing"

func TestPlainBytes(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"loaded", "\tld.global.nc.u8 \t%rs1, [%rd1+-1];\n\tcvt.u16.u8 \t%rs2, %rs1;\n", "\tld.global.nc.u8 \t%rs1, [%rd1+-1];\n\tmov.u16 \t%rs2, %rs1;\n"},
		{"to a word", "\tld.shared.u8 \t%rs1, [%r1];\n\tcvt.u32.u8 \t%r2, %rs1;\n", "\tld.shared.u8 \t%rs1, [%r1];\n\tcvt.u32.u16 \t%r2, %rs1;\n"},
		{"by vectors", "\tld.global.v2.u8 \t{%rs1, %rs2}, [%rd1];\n\tcvt.u16.u8 \t%rs3, %rs2;\n", "\tld.global.v2.u8 \t{%rs1, %rs2}, [%rd1];\n\tmov.u16 \t%rs3, %rs2;\n"},
		{"computed", "\tadd.s16 \t%rs1, %rs2, %rs3;\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
		{"or loaded", "\tld.global.u8 \t%rs1, [%rd1];\n\tmov.u16 \t%rs1, %rs2;\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
		{"or one of two", "\tld.global.u8 \t%rs1, [%rd1];\n\tmov.b32 \t{%rs2, %rs1}, %r1;\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
		{"or by assembly", "\tld.global.u8 \t%rs1, [%rd1];\n\t{ mov.u16 %rs1, 300; }\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
		{"with a sign", "\tld.global.s8 \t%rs1, [%rd1];\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
		{"another function's", "\tld.global.u8 \t%rs1, [%rd1];\n}\n.func\n{\n\tadd.s16 \t%rs1, %rs2, %rs3;\n\tcvt.u16.u8 \t%rs4, %rs1;\n", ""},
	} {
		if tt.want == "" {
			tt.want = tt.in
		}
		if got := string(plainBytes([]byte("{\n" + tt.in + "}\n"))); got != "{\n"+tt.want+"}\n" {
			t.Errorf("%s became\n%s", tt.name, got)
		}
	}
}
